#include "topology/evaluation/round_time.h"

#include "gtest/gtest.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

const NodeId kA(1), kB(2), kC(3);

NetworkLink Link(NodeId from, NodeId to, double mbps, absl::Duration delay) {
  NetworkLink link;
  link.from = from;
  link.to = to;
  link.throughput_bps = mbps * 1e6;
  link.delay = delay;
  return link;
}

// A - B - C with 8 and 4 Mbit/s, 10 and 20 ms.
NetworkView Line(std::optional<double> cap_of_b_mbps = std::nullopt) {
  std::vector<NetworkNode> nodes(3);
  for (uint32_t i = 0; i < 3; ++i) nodes[i] = {NodeId(i + 1), std::string(1, static_cast<char>('a' + i)), {}, {}};
  if (cap_of_b_mbps.has_value()) nodes[1].up_cap_bps = *cap_of_b_mbps * 1e6;
  return *NetworkView::Create(nodes,
                              {Link(kA, kB, 8, absl::Milliseconds(10)), Link(kB, kA, 8, absl::Milliseconds(10)),
                               Link(kB, kC, 4, absl::Milliseconds(20)), Link(kC, kB, 4, absl::Milliseconds(20))});
}

// Rooted on A.
Policy OnA(const NetworkView& view) {
  PlannerConfig config;
  config.planner = "mst";
  config.root = kA;
  config.chunk_max_elements = 1000;
  return *MakePolicy(view, config);
}

// What a chunk takes on a link.
double ChunkMs(double elements, double mbps) { return elements * kBitsPerElement / mbps / 1000; }

double PredictedMs(const std::vector<PlannedTensor>& tensors) {
  return absl::ToDoubleMilliseconds(PredictRoundTime(OnA(Line()), Line(), tensors));
}

TEST(RoundTimeTest, OneChunkTakesItsWayUpAndDown) {
  EXPECT_NEAR(PredictedMs({1000}), 2 * (ChunkMs(1000, 4) + 20 + ChunkMs(1000, 8) + 10), 1e-3);
}

TEST(RoundTimeTest, ManyChunksWaitForTheSlowestLink) {
  // Ten chunks leave C, the last still goes over both links and back; the way down is as slow and not slower.
  EXPECT_NEAR(PredictedMs({10000}), 11 * ChunkMs(1000, 4) + 2 * ChunkMs(1000, 8) + 60, 1e-3);
  // In whole chunks: eleven of a smaller size.
  const double size = 10001.0 / 11;
  EXPECT_NEAR(PredictedMs({10001}), 12 * ChunkMs(size, 4) + 2 * ChunkMs(size, 8) + 60, 0.1);
}

TEST(RoundTimeTest, ChunksEndWhereSlicesDo) {
  EXPECT_NEAR(PredictedMs({PlannedTensor(1000, 4, {500})}), PredictedMs({500, 500}), 1e-6);
  EXPECT_LT(PredictedMs({PlannedTensor(1000, 4, {500})}), PredictedMs({1000})) << "the second follows the first";
}

TEST(RoundTimeTest, ARoundOfHalvesIsAsShortAsItsBytesAndItsVotesAreAsManyBits) {
  RoundWork work;
  work.processors.resize(3);
  for (RoundWork::Processor& processor : work.processors) {
    processor.sum_rate = processor.cast_rate = processor.count_rate = 1e15;
  }
  const Policy policy = OnA(Line());
  const auto predicted_ms = [&](const PlannedTensor& tensor) {
    return absl::ToDoubleMilliseconds(PredictRoundOf(policy, Line(), tensor, work).time);
  };
  constexpr double kDelaysMs = 60;
  EXPECT_NEAR(predicted_ms({1000, 2}) - kDelaysMs, (predicted_ms({1000, 4}) - kDelaysMs) / 2, 0.01);
  work.is_low_bit = true;
  work.result_bits = 1;
  EXPECT_NEAR(predicted_ms({1000, 2}), predicted_ms({1000, 4}), 0.01);
}

TEST(RoundTimeTest, TellsHowLongTheBusiestLinkOrProcessorWorks) {
  RoundWork work;
  work.processors.resize(3);
  const auto busy_ms = [&] { return absl::ToDoubleMilliseconds(PredictRoundOf(OnA(Line()), Line(), 1000, work).busy); };
  EXPECT_NEAR(busy_ms(), ChunkMs(1000, 4), 1e-3) << "a link, one way";
  work.is_low_bit = true;
  work.result_bits = 2;
  EXPECT_NEAR(busy_ms(), ChunkMs(1000, 4) * 2 / 32, 1e-3) << "a link on the way down";
  work.processors[1].workers = 2;
  work.processors[1].cast_rate = 1e6;
  EXPECT_NEAR(busy_ms(), 2.0 * 2 * 4 * 1000 / 1e6 * 1000, 0.1) << "a processor that casts the votes of two";
  work.processors[1].threads = 4;
  EXPECT_NEAR(busy_ms(), 2.0 * 2 * 4 * 1000 / 1e6 * 1000, 0.1) << "one of its threads";
}

TEST(RoundTimeTest, ThreadsSumTheChunksOfATensorAtOnceAndOneCastsItsVotes) {
  RoundWork work;
  work.processors.resize(3);
  // Links count little beside them.
  for (RoundWork::Processor& processor : work.processors) processor.sum_rate = processor.cast_rate = 1e4;
  const auto seconds = [&](int threads) {
    for (RoundWork::Processor& processor : work.processors) processor.threads = threads;
    return absl::ToDoubleSeconds(PredictRoundOf(OnA(Line()), Line(), 100'000, work).time);
  };
  EXPECT_NEAR(seconds(4), seconds(1) / 4, 0.01 * seconds(1));
  work.is_low_bit = true;
  const double casting_s = 2.0 * 4 * 100'000 / 1e4;
  EXPECT_GT(seconds(4), casting_s);
  EXPECT_LT(seconds(4), 2 * casting_s);
}

TEST(RoundTimeTest, TellsWhenEachTreeIsDone) {
  Policy policy = OnA(Line());
  policy.trees.push_back(policy.trees.front());
  policy.trees[0].share = 0.75;
  policy.trees[1].share = 0.25;
  // Of four chunks the second tree gets the second or the third: the first tree has the last one.
  const RoundPrediction prediction = PredictRound(policy, Line(), {4000});
  ASSERT_EQ(prediction.tree_times.size(), 2u);
  EXPECT_LT(prediction.tree_times[1], prediction.tree_times[0]);
  EXPECT_EQ(prediction.time, prediction.tree_times[0]);
}

TEST(RoundTimeTest, TinyChunksCostMoreThanTheirElements) {
  Policy policy = OnA(Line());
  const auto predicted_s = [&] { return absl::ToDoubleSeconds(PredictRoundTime(policy, Line(), {1'000'000})); };
  policy.chunk_max_elements = 100;
  EXPECT_NEAR(predicted_s(), 1e6 * kBitsPerElement / 4e6, 0.1) << "the links take longer than their ends";
  // B takes and sends every chunk twice.
  policy.chunk_max_elements = 10;
  EXPECT_NEAR(predicted_s(), 100'000 * 4 * kSecondsPerChunkEnd, 0.1);
}

TEST(RoundTimeTest, LinksCarryThePartThatIsSent) {
  Policy policy = OnA(Line());
  const auto predicted_s = [&](double part) {
    return absl::ToDoubleSeconds(PredictRoundTime(policy, Line(), {1'000'000}, part));
  };
  EXPECT_EQ(predicted_s(1), absl::ToDoubleSeconds(PredictRoundTime(policy, Line(), {1'000'000})));
  EXPECT_NEAR(predicted_s(0.25), predicted_s(1) / 4, 0.05);
  // Chunks are as many, and sums as wide.
  policy.chunk_max_elements = 10;
  EXPECT_NEAR(predicted_s(0.01), 100'000 * 4 * kSecondsPerChunkEnd, 0.1);
}

// Of ten nodes with links that are faster than any processor.
TEST(RoundTimeTest, SumsTakeTime) {
  constexpr int64_t kElements = 100'000'000;
  const NetworkView view = CompleteNetwork(10, 1e6);
  PlannerConfig config;
  config.planner = "star";
  config.root = NodeId(1);
  const absl::Duration predicted = PredictRoundTime(*MakePolicy(view, config), view, {kElements});
  // The root reads nine gradients with the sum that it writes, divides it, reads it.
  const double passes = 9 * 3 + 2 + 1;
  EXPECT_NEAR(absl::ToDoubleSeconds(predicted), passes * 4 * kElements / kSumBytesPerSecond, 0.1);
}

TEST(RoundTimeTest, TensorsCountTogether) {
  EXPECT_EQ(PredictRoundTime(OnA(Line()), Line(), {5000, 5000}), PredictRoundTime(OnA(Line()), Line(), {10000}));
}

TEST(RoundTimeTest, ElementsTakeTheWidthOfTheirType) {
  EXPECT_NEAR(PredictedMs({PlannedTensor(1000, 8)}), 2 * (ChunkMs(2000, 4) + 20 + ChunkMs(2000, 8) + 10), 1e-3);
  EXPECT_NEAR(PredictedMs({PlannedTensor(1000, 2)}), 2 * (ChunkMs(500, 4) + 20 + ChunkMs(500, 8) + 10), 1e-3);
}

TEST(RoundTimeTest, AHostsCapIsAStationToo) {
  // B sends every chunk up and down, with 2 Mbit/s for both.
  const NetworkView capped = Line(2);
  EXPECT_GE(PredictRoundTime(OnA(capped), capped, {100000}), absl::Milliseconds(100 * 2 * 16));
}

TEST(RoundTimeTest, LargeModelsTakeWhatTheRateSaysAndSmallOnesTheDelay) {
  const NetworkView view = Internet2Network();
  PlannerConfig all;
  all.planner = "fapt";
  const Policy policy = *MakePolicy(view, all);
  const double large_s = absl::ToDoubleSeconds(PredictRoundTime(policy, view, {61'000'000}));
  EXPECT_NEAR(large_s / (61e6 * 32 / policy.rate_bps), 1, 0.01);
  PlannerConfig one = all;
  one.roots = 1;
  EXPECT_LT(PredictRoundTime(*MakePolicy(view, one), view, {1000}), 2 * PredictRoundTime(policy, view, {1000}));
}

TEST(RoundTimeTest, VanishedLinksNeverDeliver) {
  const NetworkView part = *NetworkView::Create({{kA, "a", {}, {}}, {kB, "b", {}, {}}, {kC, "c", {}, {}}},
                                                {Link(kA, kB, 8, absl::Milliseconds(10))});
  EXPECT_EQ(PredictRoundTime(OnA(Line()), part, {1000}), absl::InfiniteDuration());
}

TEST(RoundTimeTest, ALoneNodeIsDoneAtOnce) {
  const NetworkView view = SampleNetwork(1, {});
  EXPECT_EQ(PredictRoundTime(*MakePolicy(view, {}), view, {1000}), absl::ZeroDuration());
}

// Two sites of a hub and three machines on fast links; the hubs are linked by a slow one.
NetworkView TwoSites(double inside_mbps) {
  std::vector<SampleLink> links = {{1, 5, 1000}, {5, 1, 1000}};
  for (const uint32_t hub : {1, 5}) {
    for (uint32_t machine = hub + 1; machine <= hub + 3; ++machine) {
      links.push_back({machine, hub, inside_mbps});
      links.push_back({hub, machine, inside_mbps});
    }
  }
  return SampleNetwork(8, links);
}

// Of a gigabyte from each of three machines at 80 Gbit/s a hub has read and written 9 when 0.9 s are over, 0.8 s after
// all has come.
TEST(RoundTimeTest, WhatLeavesSendFasterThanItIsSummedHoldsUpTheRest) {
  Policy policy;
  policy.chunk_max_elements = 65536;
  Tree tree;
  tree.root = NodeId(1);
  tree.share = 1;
  tree.reduce_parent = {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(1)}, {NodeId(4), NodeId(1)}, {NodeId(5), NodeId(1)},
                        {NodeId(6), NodeId(5)}, {NodeId(7), NodeId(5)}, {NodeId(8), NodeId(5)}};
  tree.broadcast_parent = tree.reduce_parent;
  policy.trees = {tree};
  const std::vector<PlannedTensor> model = {250'000'000};
  const double fast = absl::ToDoubleSeconds(PredictRoundTime(policy, TwoSites(80'000), model));
  const double slow = absl::ToDoubleSeconds(PredictRoundTime(policy, TwoSites(8'000), model));
  EXPECT_NEAR(slow, 8.05, 0.06);
  EXPECT_NEAR(fast - slow, 0.8, 0.02);
}

}  // namespace
}  // namespace banyan
