// Rounds that close without late workers, in simulated time: how fast they are, and that nothing of the late gets lost.
#include <cstdint>
#include <optional>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

constexpr NodeId kFast(1);
constexpr NodeId kSlow(3);
constexpr uint64_t kRounds = 41;

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Five nodes that compute 300 ms a round, of which the last is a flush.
ClusterOptions FiveNodes(double quorum, double slowness) {
  ClusterOptions options = LinkedCluster(5, 2e6, 2e6);
  options.plan.rounds = kRounds;
  options.plan.flush_every = kRounds;
  options.plan.compute_time = absl::Milliseconds(300);
  if (slowness > 1) options.plan.slowness = {{kSlow, slowness}};
  options.overlay.aggregation.quorum = quorum;
  options.overlay.aggregation.grace = absl::Milliseconds(200);
  return options;
}

// Runs a job to its end, which breaks no rule. Returns the seconds until a fast node's worker waited in its flush.
double SecondsOf(const ClusterOptions& options) {
  Cluster cluster(options);
  const SimulatedWorker& fast = *cluster.worker(kFast, WorkerId(0));
  EXPECT_TRUE(cluster.simulator()->RunUntil([&] { return fast.rounds_done() >= 1; }, Seconds(100)));
  const Timestamp first = cluster.simulator()->now();
  EXPECT_TRUE(cluster.simulator()->RunUntil([&] { return fast.rounds_done() >= kRounds - 1; }, Seconds(1000)));
  const double seconds = absl::ToDoubleSeconds(cluster.simulator()->now() - first);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(2000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  return seconds;
}

TEST(QuorumSimulation, ASlowNodeSlowsNobody) {
  const double all_fast = SecondsOf(FiveNodes(0, 1));
  const double with_quorum = SecondsOf(FiveNodes(0.8, 10));
  EXPECT_LT(with_quorum, 1.1 * all_fast);
  EXPECT_GT(SecondsOf(FiveNodes(0, 10)), 4 * all_fast);
  RecordProperty("ratio", std::to_string(with_quorum / all_fast));
}

// With the grace of past rounds, and a node that becomes slow in round 11.
ClusterOptions AutoNodes(double slowness) {
  ClusterOptions options = FiveNodes(0.8, slowness);
  options.overlay.aggregation.grace = std::nullopt;
  options.plan.slow_after = 10;
  return options;
}

// Runs the job until a fast node's worker waits in its flush. Returns how many rounds the slow one is behind it.
uint64_t RoundsBehind(const ClusterOptions& options) {
  Cluster cluster(options);
  const SimulatedWorker& fast = *cluster.worker(kFast, WorkerId(0));
  EXPECT_TRUE(cluster.simulator()->RunUntil([&] { return fast.rounds_done() >= kRounds - 1; }, Seconds(1000)));
  const uint64_t behind = fast.rounds_done() - cluster.worker(kSlow, WorkerId(0))->rounds_done();
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(2000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  return behind;
}

TEST(QuorumSimulation, AutomaticGraceFollowsAWorkerThatBecomesSlow) {
  for (const double slowness : {1.2, 1.4}) {
    EXPECT_LE(RoundsBehind(AutoNodes(slowness)), 1u) << slowness << " times";
    EXPECT_LT(SecondsOf(AutoNodes(slowness)), 1.1 * slowness * SecondsOf(FiveNodes(0, 1)));
  }
}

TEST(QuorumSimulation, AutomaticGraceWaitsInVainForNobody) {
  EXPECT_GE(RoundsBehind(AutoNodes(3)), 10u);
  const double all_fast = SecondsOf(FiveNodes(0, 1));
  for (const double slowness : {2.2, 3.0, 10.0}) {
    EXPECT_LT(SecondsOf(AutoNodes(slowness)), 1.15 * all_fast) << slowness << " times";
  }
}

TEST(LostWorkerSimulation, TheJobGoesOnWithoutAWorkerThatHangs) {
  ClusterOptions options = FiveNodes(0, 1e6);
  options.plan.slow_after = 10;
  options.overlay.membership.worker_lost_after = absl::Seconds(10);
  ChangingCluster cluster(options);
  const SimulatedWorker& fast = *cluster->worker(kFast, WorkerId(0));
  EXPECT_TRUE(cluster->simulator()->RunUntil([&] { return fast.rounds_done() == kRounds; }, Seconds(60)))
      << cluster->WhoWaits();
  EXPECT_EQ(cluster->worker(kSlow, WorkerId(0))->rounds_done(), 10u);
  EXPECT_TRUE(cluster->violations()->empty()) << cluster->violations()->Report();
}

TEST(QuorumSimulation, AQuorumThatNeedsTheSlowNodeWaits) {
  const double all_fast = SecondsOf(FiveNodes(0, 1));
  EXPECT_GT(SecondsOf(FiveNodes(0.9, 10)), 4 * all_fast);
}

TEST(QuorumSimulation, MeansAndParametersStayTheSameForAll) {
  for (const AggregationOp op : {AggregationOp::kMean, AggregationOp::kSgd, AggregationOp::kAdam}) {
    ClusterOptions options = FiveNodes(0.6, 10);
    options.overlay.aggregation.op = op;
    options.plan.equal_gradients = op == AggregationOp::kMean;
    options.plan.slowness[NodeId(5)] = 3;
    SecondsOf(options);
  }
}

TEST(QuorumSimulation, LossyEncodingsAndApartCallsLoseNothing) {
  ClusterOptions options = FiveNodes(0.6, 10);
  options.plan.pull_apart = true;
  options.plan.flush_every = 10;
  options.plan.rounds = 40;
  options.overlay.compression.rules = {CompressionRule{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.1}}}};
  options.overlay.compression.least_elements = 1;
  Cluster cluster(options);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(2000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

}  // namespace
}  // namespace banyan
