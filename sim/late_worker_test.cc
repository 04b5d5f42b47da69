// Workers that begin late in simulated time: how fast they get 500 MB of training state from all the others at once,
// and what the death of one that gives it costs.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"
#include "sim/training/contributor_fields.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr int64_t kScale = 100;
constexpr double kStateBytes = 500e6;
constexpr NodeId kLate(6);

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Watches what travels to the late node of the state.
class StateTraffic : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    if (chunk == nullptr || chunk->id.half != Half::kState || sent.to != kLate) return;
    if (!began_at.has_value()) began_at = sent.now;
    sent_bytes += static_cast<double>(chunk->elements * kScale);
  }

  std::optional<Timestamp> began_at;
  double sent_bytes = 0;
};

// The only workers of so many nodes, whose gradients say whose they are.
ContributorFields FieldsOf(uint32_t nodes) {
  std::vector<WorkerName> workers;
  for (uint32_t node = 1; node <= nodes; ++node) workers.push_back({NodeId(node), WorkerId(0)});
  return ContributorFields(std::move(workers), {}, 1);
}

// Eight of nine data centres train; the ninth is not there yet.
ClusterOptions Internet2(ContributorFields* fields) {
  ClusterOptions options;
  options.fields = fields;
  options.plan.source = fields;
  options.overlay = LoadOverlay("deploy/topologies/internet2.yaml").value();
  options.overlay.membership.start_with = 8;
  options.scale = kScale;
  options.plan.tensors = {{"w", 8000, 0}, {"b", 2000, 0}};
  options.plan.rounds = 40;
  options.plan.compute_time = absl::Milliseconds(100);
  options.plan.state_bytes = static_cast<int64_t>(kStateBytes) / kScale;
  options.plan.may_begin_late = true;
  options.absent = {kLate};
  options.membership_changes = true;
  return options;
}

// What all links to the late node carry together, in seconds for the whole state.
double IdealSeconds(const OverlayConfig& overlay) {
  double rate_bps = 0;
  for (const LinkConfig& link : *overlay.links) {
    if (link.b == "n6") rate_bps += link.a_to_b_bps;
    if (link.a == "n6") rate_bps += link.b_to_a_bps;
  }
  return kStateBytes * 8 / rate_bps;
}

class LateWorkerSimulation : public ::testing::Test {
 protected:
  // Runs until the late node's worker fetches.
  void RunUntilFetch() {
    cluster_.simulator()->network()->AddObserver(&traffic_);
    cluster_.simulator()->RunUntil([] { return false; }, Seconds(10));
    cluster_.processes()->StartNode(kLate);
    ASSERT_TRUE(cluster_.simulator()->RunUntil([&] { return traffic_.began_at.has_value(); }, Seconds(30)));
  }
  double FetchSeconds() {
    const SimulatedWorker& worker = *cluster_.worker(kLate, WorkerId(0));
    EXPECT_TRUE(worker.fetched().has_value());
    return absl::ToDoubleSeconds(worker.fetched_at() - *traffic_.began_at);
  }

  ContributorFields fields_ = FieldsOf(9);
  const double ideal_seconds_ = IdealSeconds(Internet2(&fields_).overlay);
  StateTraffic traffic_;
  Cluster cluster_{Internet2(&fields_)};
};

TEST_F(LateWorkerSimulation, GetsItsStateOverAllItsLinks) {
  RunUntilFetch();
  ASSERT_TRUE(cluster_.RunUntilTrained(Seconds(400))) << cluster_.WhoWaits();
  EXPECT_TRUE(cluster_.violations()->empty()) << cluster_.violations()->Report();
  EXPECT_LT(FetchSeconds(), ideal_seconds_ / 0.8);
  EXPECT_LT(traffic_.sent_bytes, 1.1 * kStateBytes);
  RecordProperty("seconds", std::to_string(FetchSeconds()));
  RecordProperty("ideal_seconds", std::to_string(ideal_seconds_));
}

TEST_F(LateWorkerSimulation, TheDeathOfAGiverCostsLessThanItsPartAgain) {
  RunUntilFetch();
  ASSERT_TRUE(cluster_.simulator()->RunUntil([&] { return traffic_.sent_bytes > kStateBytes / 2; }, Seconds(100)));
  cluster_.processes()->KillNode(NodeId(8), /*silently=*/false);
  ASSERT_TRUE(cluster_.simulator()->RunUntil([&] { return cluster_.worker(kLate, WorkerId(0))->fetched().has_value(); },
                                             Seconds(100)));
  // What the others would have needed from here on, had it given nothing at all.
  EXPECT_LT(traffic_.sent_bytes, 1.25 * kStateBytes);
  EXPECT_LT(FetchSeconds(), 1.6 * ideal_seconds_);
  cluster_.processes()->StartNode(NodeId(8));
  ASSERT_TRUE(cluster_.RunUntilTrained(Seconds(400))) << cluster_.WhoWaits();
  EXPECT_TRUE(cluster_.violations()->empty()) << cluster_.violations()->Report();
}

// Small states, many restarts: nothing hangs, and each worker has the right state.
void RestartNodesAndWorkers(uint64_t barrier_every) {
  ContributorFields fields = FieldsOf(4);
  ClusterOptions options = LinkedCluster(4, 2e6, 2e6);
  options.fields = &fields;
  options.plan.source = &fields;
  options.plan.rounds = 100;
  options.plan.state_bytes = 20'000;
  options.plan.may_begin_late = true;
  options.plan.barrier_every = barrier_every;
  options.membership_changes = true;
  Cluster cluster(std::move(options));
  const auto run_for = [&](absl::Duration time) {
    cluster.simulator()->RunUntil([] { return false; }, cluster.simulator()->now() + time);
  };
  run_for(absl::Seconds(2));
  cluster.processes()->KillNode(NodeId(3), /*silently=*/false);
  run_for(absl::Milliseconds(700));
  cluster.processes()->StartNode(NodeId(3));
  run_for(absl::Seconds(2));
  cluster.processes()->KillWorker({NodeId(2), WorkerId(0)});
  run_for(absl::Milliseconds(300));
  cluster.processes()->StartWorker({NodeId(2), WorkerId(0)});
  ASSERT_TRUE(cluster.RunUntilTrained(Seconds(200))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_TRUE(cluster.worker(NodeId(3), WorkerId(0))->fetched().has_value());
  EXPECT_TRUE(cluster.worker(NodeId(2), WorkerId(0))->fetched().has_value());
  EXPECT_FALSE(cluster.worker(NodeId(1), WorkerId(0))->fetched().has_value());
}

TEST(LateWorkersTest, NodesAndWorkersThatAreRestartedFetch) { RestartNodesAndWorkers(/*barrier_every=*/0); }

// Those who wait in a barrier for the one that fetches would not come to the boundary that it waits for.
TEST(LateWorkersTest, WhoFetchesIsNotWaitedForInBarriers) {
  for (const uint64_t barrier_every : {1, 2, 5}) RestartNodesAndWorkers(barrier_every);
}

// Each node dies and comes back in turn, so that in the end nobody has the parameters from the start. Results are
// parameters here: one that has begun with others than the rest shows it with its first result.
TEST(LateNodesTest, ParametersOutliveEveryNodeThatHadThem) {
  for (const AggregationOp op : {AggregationOp::kMomentum, AggregationOp::kAdam}) {
    ContributorFields fields = FieldsOf(4);
    ClusterOptions options = LinkedCluster(4, 2e6, 2e6);
    options.fields = &fields;
    options.overlay.aggregation.op = op;
    options.plan.source = &fields;
    options.plan.tensors = {{"w", 20'000, 0}, {"b", 300, 1}, {"e", 2'000, 0}};
    options.plan.rounds = 60;
    options.plan.compute_time = absl::Milliseconds(100);
    options.plan.may_begin_late = true;
    options.plan.nodes_have_parameters = true;
    options.membership_changes = true;
    Cluster cluster(std::move(options));
    const auto has_begun = [&](NodeId node) {
      return [&cluster, node] { return cluster.worker(node, WorkerId(0))->rounds_done() > 0; };
    };
    ASSERT_TRUE(cluster.simulator()->RunUntil(has_begun(NodeId(4)), Seconds(30)));
    for (uint32_t id = 1; id <= 4; ++id) {
      const NodeId node(id);
      cluster.processes()->KillNode(node, /*silently=*/false);
      cluster.simulator()->RunUntil([] { return false; }, cluster.simulator()->now() + absl::Milliseconds(700));
      cluster.processes()->StartNode(node);
      ASSERT_TRUE(cluster.simulator()->RunUntil(has_begun(node), cluster.simulator()->now() + absl::Seconds(40)))
          << node.value();
    }
    ASSERT_TRUE(cluster.RunUntilTrained(Seconds(1000))) << cluster.WhoWaits();
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
    EXPECT_GT(cluster.contributors()->results(), 4 * 3 * 30);
  }
}

}  // namespace
}  // namespace banyan
