// Changes of policy during rounds, one at a time, among them those of NETSTORM's Figs. 8 to 10.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/overlays.h"
#include "sim/runs/simulation.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/sample_simulations.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Policies change only when an operator says so.
ClusterOptions Linked(int nodes) {
  ClusterOptions options = LinkedCluster(nodes, 1e6, 3e6);
  options.overlay.awareness.enabled = false;
  options.overlay.multipath.enabled = false;
  options.plan.rounds = 30;
  const absl::StatusOr<OverlayConfig> reread = ParseOverlay(WriteOverlay(ScaleOverlay(options.overlay, 1)), "job.yaml");
  EXPECT_TRUE(reread.ok()) << reread.status();
  options.overlay = *reread;
  return options;
}

OperatorOrder OrderAt(double seconds, const OverlayConfig& overlay) {
  return {absl::Seconds(seconds), WriteOverlay(overlay)};
}

// Which policies chunks were sent under, and when a node sent some under one that another had not heard of.
class PolicyLag : public TrafficObserver {
 public:
  void OnDelivered(const SentMessage& sent) override {
    if (const auto* published = std::get_if<PolicyPublished>(&sent.message)) {
      known_.emplace(sent.to, published->slice.version);
    } else if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
      policies.insert(chunk->policy);
      if (known_.contains({sent.to, chunk->policy})) return;
      if (sent.to == chunk->route.destination()) {
        ++early_chunks;
      } else {
        ++early_relayed_chunks;
      }
    }
  }

  std::set<PolicyVersion> policies;
  int64_t early_chunks = 0;          // for a node that does not know their policy yet
  int64_t early_relayed_chunks = 0;  // through such a node

 private:
  std::set<std::pair<NodeId, PolicyVersion>> known_;
};

// `late` hears nothing from the scheduler between these times, for less long than makes it fall out.
void CutOff(Cluster* cluster, NodeId late, double from_s, double until_s) {
  SimulatedNetwork* network = cluster->simulator()->network();
  cluster->simulator()->agenda()->CallAt(Seconds(from_s),
                                         [=] { network->Partition(late, kSchedulerNode, absl::ZeroDuration()); });
  cluster->simulator()->agenda()->CallAt(Seconds(until_s), [=] { network->Heal(late, kSchedulerNode); });
}

// NETSTORM, Fig. 8: nodes 1 and 3 have the new tree and node 2 still the old one. If each used what it has, 2 and 3
// would wait for each other. Node 2 would not know what to do with the data from 1.
TEST(NamedPolicyTest, Figure8ANodeThatHearsLateOfANewTreeNeitherBlocksNorLosesData) {
  ClusterOptions options = Linked(3);
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n2";
  options.overlay.policy.rounds_in_flight = 2;  // or nodes 1 and 3 would wait until node 2's round is closed
  // A cut of leases would wait for node 2.
  options.overlay.policy.lease = absl::ZeroDuration();
  OverlayConfig other = options.overlay;
  other.topology.root = "n3";
  for (int i = 0; i < 6; ++i) options.orders.push_back(OrderAt(1.5 + 3 * i, i % 2 == 0 ? other : options.overlay));
  options.plan.rounds = 60;
  // Twice as much without a connection makes a node fall out.
  Cluster cluster(std::move(options));
  PolicyLag lag;
  cluster.simulator()->network()->AddObserver(&lag);
  for (int i = 0; i < 6; ++i) CutOff(&cluster, NodeId(2), 1.49 + 3 * i, 2.3 + 3 * i);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(120))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_EQ(cluster.results().results(), 61 * 2 * 3);
  EXPECT_GE(lag.policies.size(), 4u);
  EXPECT_GT(lag.early_chunks, 0);
}

// Fig. 10: the source takes the new auxiliary path over a relay that still has the old ones, which lead back. The
// source alone decides, so that there is no loop.
TEST(NamedPolicyTest, Figure10ARelayWithStaleAuxiliaryPathsForwardsOnTheNewOnes) {
  ClusterOptions options = Linked(4);
  // The direct links to the root of the star are slow, so that the way over the others pays.
  for (LinkConfig& link : *options.overlay.links) {
    const std::set<std::string> ends = {link.a, link.b};
    const bool is_slow = ends.contains("n4") && !ends.contains("n3");
    link.a_to_b_bps = link.b_to_a_bps = is_slow ? 4e5 : 3e6;
  }
  options.overlay.topology.planner = "fapt";  // packed trees give auxiliary paths no share
  options.overlay.multipath = {.enabled = true, .primary_busy_bound = 0, .auxiliary_queue_length = 5};
  options.overlay.policy.rounds_in_flight = 2;  // or the others would wait until node 3's round is closed
  // A cut of leases would wait for node 3.
  options.overlay.policy.lease = absl::ZeroDuration();
  OverlayConfig other = options.overlay;
  other.topology.planner = "star";
  other.topology.root = "n4";
  for (int i = 0; i < 6; ++i) options.orders.push_back(OrderAt(1.5 + 3 * i, i % 2 == 0 ? other : options.overlay));
  options.plan.rounds = 60;
  // Twice as much without a connection makes a node fall out.
  Cluster cluster(std::move(options));
  PolicyLag lag;
  cluster.simulator()->network()->AddObserver(&lag);
  for (int i = 0; i < 6; ++i) CutOff(&cluster, NodeId(3), 1.49 + 3 * i, 2.3 + 3 * i);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(120))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_GT(cluster.routes()->auxiliary_chunks(), 100);
  EXPECT_GT(lag.early_relayed_chunks, 0);
}

TEST(NamedPolicyTest, AnInvalidOrderChangesNothing) {
  ClusterOptions options = Linked(3);
  options.overlay.topology.planner = "fapt";  // which has no second thoughts about a model
  OverlayConfig fewer = options.overlay;
  fewer.nodes.pop_back();
  OverlayConfig unknown = options.overlay;
  unknown.topology.planner = "oak";
  options.orders = {OrderAt(0.5, fewer), OrderAt(1, unknown), {absl::Seconds(1.5), "nodes: ["}};
  Cluster cluster(std::move(options));
  PolicyLag lag;
  cluster.simulator()->network()->AddObserver(&lag);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_EQ(lag.policies.size(), 1u);
  ASSERT_EQ(cluster.job_operator()->replies().size(), 3u);
  for (const OperatorReply& reply : cluster.job_operator()->replies()) EXPECT_FALSE(reply.accepted) << reply.text;
}

absl::Duration Median(std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct PauseOutcome {
  uint64_t rounds_during = 0;
  absl::Duration median;   // of the rounds' times
  absl::Duration longest;  // after the first two rounds
};

// Pauses the scheduler for so long in the middle of a lease.
PauseOutcome PauseScheduler(int rounds_in_flight, absl::Duration pause = absl::Seconds(5)) {
  SimulationOptions options = Internet2Simulation(8000000, 40);
  options.overlay.policy.rounds_in_flight = rounds_in_flight;
  ClusterOptions cluster_options = MakeClusterOptions(options);
  cluster_options.plan.barrier_every = 0;  // barriers are the scheduler's
  cluster_options.plan.compute_time = absl::Milliseconds(200);
  Cluster cluster(std::move(cluster_options));
  PauseOutcome outcome;
  EXPECT_TRUE(cluster.simulator()->RunUntil([&] { return cluster.rounds_done() >= 21; }, Seconds(100)));
  const Timestamp paused = cluster.simulator()->now();
  cluster.simulator()->process(kSchedulerNode)->PauseUntil(paused + pause);
  cluster.simulator()->RunUntil([] { return false; }, paused + pause);
  outcome.rounds_during = cluster.rounds_done() - 21;
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(200))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_EQ(cluster.clock().rounds().size(), 40u);
  std::vector<absl::Duration> times;
  for (const auto& [round, clock] : cluster.clock().rounds()) {
    times.push_back(clock.Synchronisation());
    if (round > Round(2)) outcome.longest = std::max(outcome.longest, clock.Synchronisation());
  }
  outcome.median = Median(std::move(times));
  return outcome;
}

TEST(NamedPolicyTest, APauseOfTheSchedulerCostsNoTimeWithALongLeaseAndRoundsInFlight) {
  const PauseOutcome outcome = PauseScheduler(8);
  EXPECT_GE(outcome.rounds_during, 3u);
  const PauseOutcome without = PauseScheduler(8, absl::ZeroDuration());
  EXPECT_LT(outcome.longest, 1.1 * without.longest);
  EXPECT_LT(outcome.median, 1.1 * without.median);
}

TEST(NamedPolicyTest, APauseOfTheSchedulerCostsNoRound) {
  const PauseOutcome outcome = PauseScheduler(1);
  EXPECT_GE(outcome.rounds_during, 1u);
  EXPECT_LT(outcome.longest, absl::Seconds(5) + 1.5 * outcome.median);
}

// How far the leases of all nodes and keys reach, and how often leases were cut.
class LeaseWatch : public TrafficObserver {
 public:
  void OnDelivered(const SentMessage& sent) override {
    if (std::holds_alternative<CutBound>(sent.message)) ++bounds;
    const auto* answer = std::get_if<PolicyAnswer>(&sent.message);
    if (answer == nullptr) return;
    for (const PolicyAnswer::Binding& binding : answer->bindings) {
      Round& last = last_[{sent.to, binding.key}];
      last = std::max(last, binding.last_round);
    }
  }
  Round Least() const {
    Round least(UINT64_MAX);
    for (const auto& [lease, last] : last_) least = std::min(least, last);
    return least;
  }

  int64_t bounds = 0;

 private:
  std::map<std::pair<NodeId, KeyId>, Round> last_;
};

// Kills the scheduler after half a minute, for so long; it comes back with its records. Returns when each round ended.
std::vector<Timestamp> TrainWithoutScheduler(absl::Duration away) {
  ClusterOptions options = Linked(3);
  options.plan.rounds = 400;
  options.plan.barrier_every = 0;  // barriers are the scheduler's
  options.plan.compute_time = absl::Milliseconds(100);
  Cluster cluster(std::move(options));
  cluster.simulator()->RunUntil([] { return false; }, Seconds(30));
  if (away > absl::ZeroDuration()) {
    cluster.processes()->KillScheduler(/*silently=*/false);
    cluster.simulator()->RunUntil([] { return false; }, Seconds(30) + away);
    cluster.processes()->StartScheduler(/*with_records=*/true);
  }
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(1000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_EQ(cluster.clock().rounds().size(), 400u);
  std::vector<Timestamp> ends;
  for (const auto& [round, clock] : cluster.clock().rounds()) ends.push_back(clock.last_pull);
  return ends;
}

TEST(NamedPolicyTest, ASchedulerThatIsAwayForAMinuteCostsNoRoundAndNoTime) {
  const std::vector<Timestamp> with = TrainWithoutScheduler(absl::ZeroDuration());
  const std::vector<Timestamp> without = TrainWithoutScheduler(absl::Minutes(1));
  ASSERT_EQ(with.size(), without.size());
  EXPECT_GT(with.back(), Seconds(100)) << "or it was not away during rounds";
  for (size_t round = 0; round < with.size(); ++round) {
    EXPECT_LT(without[round] - with[round], absl::Seconds(1)) << "round " << round;
  }
}

TEST(NamedPolicyTest, APolicyChangesWithinSecondsAlthoughLeasesAreLong) {
  ClusterOptions options = Linked(4);
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n2";
  OverlayConfig other = options.overlay;
  other.topology.root = "n3";
  options.orders.push_back(OrderAt(60, other));
  options.plan.rounds = 300;
  Cluster cluster(std::move(options));
  PolicyLag lag;
  LeaseWatch leases;
  cluster.simulator()->network()->AddObserver(&lag);
  cluster.simulator()->network()->AddObserver(&leases);
  cluster.simulator()->RunUntil([] { return false; }, Seconds(60));
  const size_t before = lag.policies.size();
  const uint64_t done = cluster.rounds_done();
  EXPECT_GT(leases.Least().value(), done + done / 2) << "a minute and more is leased";
  const int64_t bounds_before = leases.bounds;
  EXPECT_TRUE(cluster.simulator()->RunUntil([&] { return lag.policies.size() > before; }, Seconds(63)));
  EXPECT_EQ(leases.bounds, bounds_before + 4);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(1000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

// What a node reports of its links from some time on is this often what it measures.
class Overstatement : public Tap {
 public:
  Overstatement(std::unique_ptr<Protocol> core, absl::Duration after, double factor)
      : Tap(std::move(core)), after_(after), factor_(factor) {}

 private:
  void OnEvent(Event& /*event*/) override {
    if (!begins_at_.has_value()) begins_at_ = now() + after_;
  }
  bool OnAction(Action& action) override {
    auto* const send = std::get_if<Send>(&action);
    auto* const report = send == nullptr ? nullptr : std::get_if<NodeReport>(&send->message);
    if (report == nullptr || now() < *begins_at_) return true;
    for (NodeReport::Link& link : report->links) {
      if (link.measurement.has_value()) link.measurement->rate_bps *= factor_;
    }
    return true;
  }

  absl::Duration after_;
  double factor_;
  std::optional<Timestamp> begins_at_;
};

// The links of a node are measured at ten times their rate and stay so. Trees that count on it are slow: the ones
// before come back, and what they promise is not believed again although the measurement is the same.
TEST(NamedPolicyTest, APolicyThatRoundsDoNotBearOutIsTakenBackAndNotMadeAgain) {
  ClusterOptions options = LinkedCluster(4, 1e6, 3e6);
  options.overlay.topology.planner = "packed";
  options.overlay.chunks.max_elements = 1000;
  options.plan.tensors = {{"w", 100000, 0}};
  options.plan.rounds = 250;
  for (LinkConfig& link : *options.overlay.links) {
    if (link.a == "n2") link.a_to_b_bps = 5e5;
    if (link.b == "n2") link.b_to_a_bps = 5e5;
  }
  options.wrap_core = [](NodeId id, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (id != NodeId(2)) return core;
    return std::make_unique<Overstatement>(std::move(core), absl::Minutes(1), 10);
  };
  Cluster cluster(std::move(options));
  PolicyLag lag;
  cluster.simulator()->network()->AddObserver(&lag);
  cluster.simulator()->RunUntil([] { return false; }, Timestamp() + absl::Minutes(1));
  const size_t policies_before = lag.policies.size();
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(1000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  std::vector<absl::Duration> before;
  std::vector<absl::Duration> after;
  size_t slow = 0;
  for (const auto& [round, clock] : cluster.clock().rounds()) {
    if (clock.last_pull < Seconds(60)) before.push_back(clock.Synchronisation());
    if (round > Round(200)) after.push_back(clock.Synchronisation());
    if (clock.Synchronisation() > 2 * before.front()) ++slow;
  }
  EXPECT_LE(policies_before, 2u);  // the first, and one when the model is known
  EXPECT_EQ(lag.policies.size(), policies_before + 2);
  EXPECT_GT(slow, 0u);
  EXPECT_LT(slow, 10u);
  EXPECT_LT(Median(after), 1.05 * Median(before));
}

// As of trees that are kept in haste when a node between two others has fallen out.
TEST(NamedPolicyTest, OneHalfOfATreeGoesByARelayAndTheOtherDoesNot) {
  ClusterOptions options = Linked(3);
  std::erase_if(*options.overlay.links, [](const LinkConfig& link) { return link.a == "n1" && link.b == "n3"; });
  options.overlay.topology.planner = "custom";
  options.overlay.topology.trees = {
      {.root = "n1", .share = {}, .reduce = {{"n2", "n1"}, {"n3", "n1"}}, .broadcast = {{"n2", "n1"}, {"n3", "n2"}}}};
  Cluster cluster(std::move(options));
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(120))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

}  // namespace
}  // namespace banyan
