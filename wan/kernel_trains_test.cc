#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "wan/emulator.h"

namespace banyan {
namespace {

struct Link {
  double mbps;
  int delay_ms;
};

// Of a node with these links, each to a node of its own.
std::optional<int> LogWith(const std::vector<Link>& links) {
  const NodeId hub(1);
  std::vector<NetworkNode> nodes = {{.id = hub, .name = "hub", .up_cap_bps = {}, .down_cap_bps = {}}};
  std::vector<NetworkLink> network_links;
  for (const Link& link : links) {
    const NodeId leaf(static_cast<uint32_t>(nodes.size()) + 1);
    nodes.push_back({.id = leaf, .name = "leaf" + std::to_string(leaf.value()), .up_cap_bps = {}, .down_cap_bps = {}});
    network_links.push_back(
        {.from = hub, .to = leaf, .throughput_bps = 1e6 * link.mbps, .delay = absl::Milliseconds(link.delay_ms)});
    // What comes to the node is no matter.
    network_links.push_back({.from = leaf, .to = hub, .throughput_bps = 1e3, .delay = absl::Milliseconds(500)});
  }
  return TsoRttLog(*NetworkView::Create(nodes, network_links), hub);
}

// How often it goes into the round trip: not at all makes trains 64 KB longer, twice 16 KB, three times 8 KB.
int TimesIn(int round_trip_ms, std::optional<int> log) { return (round_trip_ms * 1000) >> log.value(); }

TEST(KernelTrainsTest, IsJustLongerThanTheRoundTrip) {
  for (const int delay_ms : {9, 15, 40, 60, 180}) {
    const std::optional<int> log = LogWith({{100, delay_ms}});
    EXPECT_EQ(TimesIn(2 * delay_ms, log), 0);
    EXPECT_EQ(TimesIn(2 * delay_ms, log.value() - 1), 1);
  }
}

TEST(KernelTrainsTest, ShortRoundTripsHaveTheLongestTrains) {
  EXPECT_EQ(TimesIn(0, LogWith({{100, 0}})), 0);
  EXPECT_EQ(TimesIn(4, LogWith({{100, 2}})), 0);
}

TEST(KernelTrainsTest, SlowLinksHaveShorterTrains) {
  for (const int delay_ms : {5, 12, 15, 40, 180}) {
    const int times = TimesIn(2 * delay_ms, LogWith({{100, delay_ms}, {19, delay_ms}}));
    EXPECT_GE(times, 2);
    EXPECT_LE(times, 3);
  }
  EXPECT_EQ(LogWith({{100, 15}, {1.9, 15}}), std::nullopt);
}

TEST(KernelTrainsTest, TheShortestLinkDecides) { EXPECT_EQ(LogWith({{50, 15}, {50, 90}}), LogWith({{50, 15}})); }

TEST(KernelTrainsTest, NoLinkNoSetting) { EXPECT_EQ(LogWith({}), std::nullopt); }

}  // namespace
}  // namespace banyan
