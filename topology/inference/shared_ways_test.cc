#include "topology/inference/shared_ways.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kMega = 1e6;

NetworkLink MakeLink(NodeId from, NodeId to, double mbps, double delay_ms) {
  return {.from = from, .to = to, .throughput_bps = mbps * kMega, .delay = absl::Milliseconds(delay_ms)};
}

// n1, n2, n3 in a row, by delays: packets between n1 and n3 take `direct_ms`, and 10 ms by way of n2.
NetworkView Row(double direct_ms) {
  const NodeId n1(1), n2(2), n3(3);
  std::vector<NetworkLink> links;
  for (const auto& [a, b, ms] : {std::tuple(n1, n2, 4.0), {n2, n3, 6.0}, {n1, n3, direct_ms}}) {
    links.push_back(MakeLink(a, b, 40, ms));
    links.push_back(MakeLink(b, a, 40, ms));
  }
  return *NetworkView::Create({{n1, "n1", {}, {}}, {n2, "n2", {}, {}}, {n3, "n3", {}, {}}}, links);
}

size_t NumberOf(const NetworkView& view, uint32_t from, uint32_t to) {
  return static_cast<size_t>(view.FindLink(NodeId(from), NodeId(to)) - view.links().data());
}

const SharedWay* WayOver(const std::vector<SharedWay>& ways, size_t link) {
  for (const SharedWay& way : ways) {
    if (way.link == link) return &way;
  }
  return nullptr;
}

// Links n1 to n2 and n1 to n3 carry these, always with more to send, in four intervals.
void Carry(TrafficWindow& window, const NetworkView& view, double to_n2_mbps, double to_n3_mbps) {
  const LinkTraffic to_n2{NumberOf(view, 1, 2), to_n2_mbps * kMega, true, to_n2_mbps * kMega};
  const LinkTraffic to_n3{NumberOf(view, 1, 3), to_n3_mbps * kMega, to_n3_mbps > 0, to_n3_mbps * kMega};
  for (int i = 0; i < 4; ++i) window.Add({to_n2, to_n3});
}

TEST(SharedWays, ALinkAsLongAsTheWayOverAThirdNodeMayGoThere) {
  const NetworkView view = Row(10);
  const std::vector<SharedWay> ways = WaysByDelay(view);
  ASSERT_THAT(ways, SizeIs(4)) << "both directions of two links";
  ASSERT_NE(WayOver(ways, NumberOf(view, 1, 2)), nullptr);
  EXPECT_THAT(WayOver(ways, NumberOf(view, 1, 2))->over, ElementsAre(NumberOf(view, 1, 3)));
  EXPECT_THAT(WayOver(ways, NumberOf(view, 3, 2))->over, ElementsAre(NumberOf(view, 3, 1)));
}

TEST(SharedWays, AShorterLinkGoesByItself) { EXPECT_THAT(WaysByDelay(Row(9)), IsEmpty()); }

TEST(SharedWays, NothingIsSaidOfDelaysThatNobodyHasMeasured) { EXPECT_THAT(WaysByDelay(Row(0)), IsEmpty()); }

TEST(SharedWays, ALinkMayCarryWhatAllOverItCarriedTogether) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  Carry(window, view, 50, 70);
  const std::vector<SharedWay> ways = FindSharedWays(view, window);
  const SharedWay* const way = WayOver(ways, NumberOf(view, 1, 2));
  ASSERT_NE(way, nullptr);
  EXPECT_FALSE(way->is_known);
  EXPECT_DOUBLE_EQ(way->rate_bps, 120 * kMega);
}

TEST(SharedWays, AWayThatCarriesAsMuchAloneAsTogetherIsShared) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  Carry(window, view, 50, 70);
  Carry(window, view, 115, 0);
  const std::vector<SharedWay> ways = FindSharedWays(view, window);
  const SharedWay* const way = WayOver(ways, NumberOf(view, 1, 2));
  ASSERT_NE(way, nullptr);
  EXPECT_TRUE(way->is_known);
  EXPECT_DOUBLE_EQ(way->rate_bps, 115 * kMega) << "what it carried lately";
}

TEST(SharedWays, LinksThatCarryMoreTogetherShareNothing) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  Carry(window, view, 50, 70);
  Carry(window, view, 50, 0);
  EXPECT_EQ(WayOver(FindSharedWays(view, window), NumberOf(view, 1, 2)), nullptr);
}

TEST(SharedWays, ALinkThatHasCarriedMoreThanAloneWasNotAtItsLimitThen) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  Carry(window, view, 40, 0);
  Carry(window, view, 80, 20);
  const SharedWay* const way = WayOver(FindSharedWays(view, window), NumberOf(view, 1, 2));
  EXPECT_NE(way, nullptr) << "100 together are no more than some 80 alone, although it was 40 while nothing else went";
}

TEST(SharedWays, TwoIntervalsAloneTellNothing) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  Carry(window, view, 50, 70);
  const LinkTraffic to_n2{NumberOf(view, 1, 2), 50 * kMega, true, 50 * kMega};
  window.Add({to_n2});
  window.Add({to_n2});
  EXPECT_NE(WayOver(FindSharedWays(view, window), NumberOf(view, 1, 2)), nullptr);
  window.Add({to_n2});
  EXPECT_EQ(WayOver(FindSharedWays(view, window), NumberOf(view, 1, 2)), nullptr);
}

TEST(SharedWays, OneIntervalInWhichBothWereBusyTellsThemApart) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  const LinkTraffic to_n2{NumberOf(view, 1, 2), 50 * kMega, true, 50 * kMega};
  window.Add({to_n2, {NumberOf(view, 1, 3), 70 * kMega, true, 70 * kMega}});
  Carry(window, view, 50, 0);
  EXPECT_EQ(WayOver(FindSharedWays(view, window), NumberOf(view, 1, 2)), nullptr);
}

TEST(SharedWays, WhereTwoWaysAreAsShortNeitherIsTakenToCarryAll) {
  // n1 to n4 by n2 or by n3.
  std::vector<NetworkLink> links;
  for (const auto& [a, b, ms] : {std::tuple(1, 2, 5.0), {1, 3, 5.0}, {2, 4, 5.0}, {3, 4, 5.0}, {1, 4, 10.0}}) {
    links.push_back(MakeLink(NodeId(a), NodeId(b), 40, ms));
  }
  std::vector<NetworkNode> nodes;
  for (uint32_t id = 1; id <= 4; ++id) nodes.push_back({NodeId(id), absl::StrCat("n", id), {}, {}});
  const NetworkView view = *NetworkView::Create(nodes, links);
  const std::vector<SharedWay> ways = WaysByDelay(view);
  ASSERT_THAT(ways, SizeIs(4));
  for (const SharedWay& way : ways) {
    EXPECT_THAT(way.over, ElementsAre(NumberOf(view, 1, 4)));
    EXPECT_THAT(way.surely_over, IsEmpty());
  }
}

TEST(SharedWays, OneMistakenMeasurementDoesNotTellThemApart) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  const double burst_bps = 500 * kMega;
  window.Add({{NumberOf(view, 1, 2), burst_bps, true, burst_bps}, {NumberOf(view, 1, 3), burst_bps, false, 0}});
  Carry(window, view, 50, 0);
  EXPECT_NE(WayOver(FindSharedWays(view, window), NumberOf(view, 1, 2)), nullptr);
}

TEST(SharedWays, PlansGetTheSharedCapacityAndTheRate) {
  const NetworkView view = Row(10);
  TrafficWindow window;
  Carry(window, view, 50, 70);
  const NetworkView shared = WithSharedWays(view, FindSharedWays(view, window));
  EXPECT_DOUBLE_EQ(shared.FindLink(NodeId(1), NodeId(2))->throughput_bps, 120 * kMega);
  EXPECT_DOUBLE_EQ(shared.FindLink(NodeId(1), NodeId(3))->throughput_bps, 40 * kMega);
  ASSERT_THAT(shared.shared(), SizeIs(4));
  EXPECT_THAT(shared.shared()[0].links, ElementsAre(std::pair(NodeId(1), NodeId(2)), std::pair(NodeId(1), NodeId(3))));
}

}  // namespace
}  // namespace banyan
