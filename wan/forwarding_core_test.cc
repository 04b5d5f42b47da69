#include "wan/forwarding_core.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr int64_t kMillisecondNs = 1000 * 1000;
constexpr int64_t kSecondNs = 1000 * kMillisecondNs;
constexpr uint32_t kPacketBytes = 1500;

NetworkNode Node(uint32_t id) { return {NodeId(id), absl::StrCat("n", id), std::nullopt, std::nullopt}; }

// n1 - n2 - n3 in a row; 1500 bytes take 1 ms on the first link and 2 ms on the second.
NetworkView Row() {
  std::vector<NetworkLink> links;
  for (const auto& [from, to, mbps] : std::vector<std::tuple<int, int, double>>{{1, 2, 12}, {2, 3, 6}}) {
    const NodeId a(static_cast<uint32_t>(from));
    const NodeId b(static_cast<uint32_t>(to));
    links.push_back({a, b, mbps * 1e6, absl::Milliseconds(10), 0, LinkSource::kBelieved});
    links.push_back({b, a, mbps * 1e6, absl::Milliseconds(10), 0, LinkSource::kBelieved});
  }
  return *NetworkView::Create({Node(1), Node(2), Node(3)}, std::move(links));
}

int64_t ArrivalOf(ForwardingCore& core, uint32_t packet) {
  for (int64_t now = core.NextEventNs(); now != kNeverNs; now = core.NextEventNs()) {
    core.Advance(now);
    for (const TrainEnd& end : core.ended()) {
      if (end.train.packet == packet && end.train.alive != 0) return now;
    }
  }
  return kNeverNs;
}

TEST(ForwardingCoreTest, EveryHopAddsItsSerialisationAndItsDelay) {
  ForwardingCore core(Row(), {});
  core.Send(0, 0, 2, SingleSegment(4, kPacketBytes));
  EXPECT_EQ(ArrivalOf(core, 4), (1 + 10 + 2 + 10) * kMillisecondNs);
  ASSERT_EQ(core.ended().size(), 1u);
  EXPECT_EQ(core.ended()[0].node, 2u);
}

TEST(ForwardingCoreTest, RoutesExistBetweenDifferentNodesOnly) {
  ForwardingCore core(Row(), {});
  EXPECT_TRUE(core.HasRoute(0, 2));
  EXPECT_FALSE(core.HasRoute(1, 1));
  EXPECT_EQ(core.RouteRate(0, 2), 6e6);
  EXPECT_EQ(core.RouteRate(1, 0), 12e6);
}

TEST(ForwardingCoreTest, TheShortestDelayIsThatOfALinkOnTheRoute) {
  std::vector<NetworkNode> nodes = {Node(1), Node(2), Node(3)};
  for (NetworkNode& node : nodes) node.up_cap_bps = 1e6;
  const ForwardingCore core(
      *NetworkView::Create(std::move(nodes),
                           {{NodeId(1), NodeId(2), 12e6, absl::Milliseconds(10), 0, LinkSource::kBelieved},
                            {NodeId(2), NodeId(3), 6e6, absl::Milliseconds(7), 0, LinkSource::kBelieved},
                            {NodeId(2), NodeId(1), 6e6, absl::Milliseconds(3), 0, LinkSource::kBelieved}}),
      {});
  EXPECT_EQ(core.ShortestDelay(0, 2), absl::Milliseconds(7));
  EXPECT_EQ(core.ShortestDelay(0, 1), absl::Milliseconds(10));
}

TEST(ForwardingCoreTest, RoutedTrafficSharesTheLinksItCrosses) {
  ForwardingCore core(Row(), {});
  core.Send(0, 1, 2, SingleSegment(1, 10 * kPacketBytes));
  core.Send(0, 0, 2, SingleSegment(2, kPacketBytes));
  // It reaches n2 after 11 ms and waits there until the link is free at 20 ms.
  EXPECT_EQ(ArrivalOf(core, 2), (20 + 2 + 10) * kMillisecondNs);
  EXPECT_EQ(core.States(kSecondNs)[2].counters.sent_segments, 2);
}

TEST(ForwardingCoreTest, DroppedTrainsEndWithoutLivingSegments) {
  ForwardingOptions options;
  options.queue_time = absl::Milliseconds(50);
  ForwardingCore core(Row(), options);
  int64_t arrived = 0;
  for (uint32_t i = 0; i < 100; ++i) core.Send(0, 0, 1, SingleSegment(i, kPacketBytes));
  core.Advance(kSecondNs);
  for (const TrainEnd& end : core.ended()) arrived += end.train.CountAlive();
  EXPECT_EQ(core.ended().size(), 100u);
  EXPECT_EQ(arrived, 75000 / kPacketBytes);
  EXPECT_EQ(core.States(kSecondNs)[0].counters.dropped_segments, 50);
  EXPECT_EQ(core.NextEventNs(), kNeverNs);
}

TEST(ForwardingCoreTest, ARateChangeHoldsForWhatIsQueued) {
  ForwardingCore core(Row(), {});
  for (uint32_t i = 0; i < 10; ++i) core.Send(0, 0, 1, SingleSegment(i, kPacketBytes));
  core.Advance(2 * kMillisecondNs);
  EXPECT_TRUE(core.SetRate(2 * kMillisecondNs, NodeId(1), NodeId(2), 120e6));
  EXPECT_FALSE(core.SetRate(2 * kMillisecondNs, NodeId(1), NodeId(3), 120e6));
  EXPECT_EQ(ArrivalOf(core, 9), 12 * kMillisecondNs + 8 * kMillisecondNs / 10);
  EXPECT_EQ(core.States(kSecondNs)[0].rate_bps, 120e6);
  for (uint32_t i = 10; i < 20; ++i) core.Send(kSecondNs, 0, 1, SingleSegment(i, kPacketBytes));
  EXPECT_TRUE(core.SetRate(kSecondNs, NodeId(1), NodeId(2), 1.2e6));
  EXPECT_EQ(ArrivalOf(core, 19), kSecondNs + 110 * kMillisecondNs);
}

TEST(ForwardingCoreTest, ACutHoldsForItsTwoEndsAndItsDirectionUntilItIsHealed) {
  ForwardingCore core(Row(), {});
  EXPECT_TRUE(core.SetCut(NodeId(1), NodeId(2), true));
  EXPECT_FALSE(core.SetCut(NodeId(1), NodeId(3), true));
  EXPECT_TRUE(core.States(0)[0].is_cut);
  EXPECT_FALSE(core.States(0)[1].is_cut);
  core.Send(0, 0, 1, SingleSegment(1, kPacketBytes));
  ASSERT_EQ(core.ended().size(), 1u);
  EXPECT_EQ(core.ended()[0].train.alive, 0u);
  core.Send(0, 1, 0, SingleSegment(2, kPacketBytes));
  EXPECT_EQ(ArrivalOf(core, 2), 11 * kMillisecondNs);
  // Over the same wire to another node.
  core.Send(kSecondNs, 0, 2, SingleSegment(3, kPacketBytes));
  EXPECT_EQ(ArrivalOf(core, 3), kSecondNs + 23 * kMillisecondNs);
  EXPECT_TRUE(core.SetCut(NodeId(1), NodeId(2), false));
  core.Send(2 * kSecondNs, 0, 1, SingleSegment(4, kPacketBytes));
  EXPECT_EQ(ArrivalOf(core, 4), 2 * kSecondNs + 11 * kMillisecondNs);
}

TEST(ForwardingCoreTest, CapsOfNodesHoldOverAllTheirLinks) {
  ForwardingCore core(WithCaps(Row(), 12, 1.2), {});
  // Up 1 ms, link 1 ms + 10 ms, down 10 ms; transit at n2 passes no cap of n2.
  core.Send(0, 0, 1, SingleSegment(1, kPacketBytes));
  EXPECT_EQ(ArrivalOf(core, 1), 22 * kMillisecondNs);
  core.Send(kSecondNs, 0, 2, SingleSegment(2, kPacketBytes));
  EXPECT_EQ(ArrivalOf(core, 2), kSecondNs + (1 + 11 + 12 + 10) * kMillisecondNs);
}

std::vector<uint32_t> Survivors(uint64_t seed) {
  std::vector<NetworkLink> links = {{NodeId(1), NodeId(2), 1e9, absl::Milliseconds(1), 0.2, LinkSource::kBelieved}};
  const NetworkView view = *NetworkView::Create({Node(1), Node(2)}, std::move(links));
  ForwardingOptions options;
  options.seed = seed;
  ForwardingCore core(view, options);
  std::vector<uint32_t> survivors;
  for (uint32_t i = 0; i < 1000; ++i) {
    core.Advance(i * kMillisecondNs);
    core.Send(i * kMillisecondNs, 0, 1, SingleSegment(i, kPacketBytes));
  }
  core.Advance(10 * kSecondNs);
  for (const TrainEnd& end : core.ended()) {
    if (end.train.alive != 0) survivors.push_back(end.train.packet);
  }
  return survivors;
}

TEST(ForwardingCoreTest, TheSameSeedLosesTheSame) {
  EXPECT_EQ(Survivors(1), Survivors(1));
  EXPECT_NE(Survivors(1), Survivors(2));
  EXPECT_NEAR(static_cast<double>(Survivors(1).size()), 800, 60);
}

}  // namespace
}  // namespace banyan
