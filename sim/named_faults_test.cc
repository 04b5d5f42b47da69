// The faults that a job must survive or name in its error, one at a time.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/memory_checker.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// Counts messages of interest.
class Counter : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
      ++chunks;
      if (!seen_.emplace(sent.from, sent.to, chunk->route.source(), chunk->id).second) ++resent_chunks;
    }
    if (std::holds_alternative<Busy>(sent.message)) ++busy;
    if (std::holds_alternative<Grant>(sent.message)) ++grants;
  }

  int64_t chunks = 0;
  int64_t resent_chunks = 0;
  int64_t busy = 0;
  int64_t grants = 0;

 private:
  std::set<std::tuple<NodeId, NodeId, NodeId, ChunkId>> seen_;
};

// At 2 Mbit/s, for six rounds.
ClusterOptions Linked(int nodes) {
  ClusterOptions options = LinkedCluster(nodes, 2e6, 2e6);
  options.plan.rounds = 6;
  return options;
}

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

void RunUntilRound(Cluster* cluster, uint64_t rounds_done) {
  ASSERT_TRUE(cluster->simulator()->RunUntil([&] { return cluster->rounds_done() >= rounds_done; }, Seconds(100)));
}

// Every worker but those of `dead` has an error that contains all of `parts`, at most `within` after now.
void ExpectFailureEverywhere(Cluster* cluster, const std::vector<std::string>& parts, absl::Duration within,
                             NodeId dead = kSchedulerNode) {
  const Timestamp limit = cluster->simulator()->now() + within;
  EXPECT_TRUE(cluster->RunUntilNobodyWaits(limit)) << cluster->WhoWaits();
  for (const auto& [name, worker] : cluster->workers()) {
    if (name.node == dead) continue;
    ASSERT_TRUE(worker->failure().has_value()) << "node " << name.node;
    EXPECT_EQ(worker->failure()->code(), absl::StatusCode::kUnavailable) << *worker->failure();
    for (const std::string& part : parts) EXPECT_THAT(std::string(worker->failure()->message()), HasSubstr(part));
    EXPECT_THAT(std::string(worker->failure()->message()), HasSubstr("round"));
  }
  EXPECT_TRUE(cluster->violations()->empty()) << cluster->violations()->Report();
}

// All workers but those of the nodes in `gone` train to the end.
void ExpectTheOthersFinish(Cluster* cluster, const std::set<NodeId>& gone) {
  const Timestamp quiet_at = cluster->simulator()->now();
  EXPECT_TRUE(cluster->RunUntilStayersTrained(quiet_at, gone, absl::Seconds(90))) << cluster->WhoWaits();
  EXPECT_TRUE(cluster->violations()->empty()) << cluster->violations()->Report();
}

TEST(NamedFaultsTest, ALostConnectionCostsAResendAndNotTheRound) {
  Cluster cluster(Linked(4));
  Counter counter;
  cluster.simulator()->network()->AddObserver(&counter);
  RunUntilRound(&cluster, 2);
  cluster.simulator()->RunUntil([] { return false; }, cluster.simulator()->now() + absl::Milliseconds(80));
  const int64_t before = counter.resent_chunks;
  EXPECT_EQ(before, 0);
  for (ConnectionIndex connection : cluster.simulator()->network()->ConnectionsInUse(NodeId(1), NodeId(2))) {
    cluster.simulator()->network()->Lose(connection, LossOptions());
  }
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60)));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_GT(counter.resent_chunks, 0);
  EXPECT_LT(counter.resent_chunks, counter.chunks / 20);
}

// Which connection the last chunk between two nodes took.
class LastConnection : public TrafficObserver {
 public:
  LastConnection(NodeId from, NodeId to) : from_(from), to_(to) {}
  void OnSent(const SentMessage& sent) override {
    const bool is_meant = sent.from == from_ && sent.to == to_;
    if (is_meant && sent.channel == Channel::kData) connection = sent.connection;
  }

  ConnectionIndex connection = 0;

 private:
  const NodeId from_;
  const NodeId to_;
};

TEST(NamedFaultsTest, AConnectionThatStandsStillHoldsUpNoRound) {
  ClusterOptions options = Linked(4);
  options.overlay.multipath.enabled = false;  // or auxiliary paths might help out
  for (const auto& [from, to] : {std::pair(NodeId(1), NodeId(2)), std::pair(NodeId(3), NodeId(4))}) {
    Cluster cluster(options);
    Counter counter;
    LastConnection last(from, to);
    cluster.simulator()->network()->AddObserver(&counter);
    cluster.simulator()->network()->AddObserver(&last);
    RunUntilRound(&cluster, 2);
    EXPECT_EQ(counter.resent_chunks, 0);
    // Shorter than the time after which acks count as lost.
    const Timestamp until = cluster.simulator()->now() + absl::Milliseconds(1800);
    cluster.simulator()->network()->Stall(last.connection, until);
    RunUntilRound(&cluster, 4);
    EXPECT_LT(cluster.simulator()->now() + absl::Milliseconds(200), until);
    EXPECT_GT(counter.resent_chunks, 0);
    EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60)));
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
    EXPECT_LT(counter.resent_chunks, counter.chunks / 20);
  }
}

TEST(NamedFaultsTest, APartitionBetweenTwoNodesCostsTheirLinkAndNotTheJob) {
  ClusterOptions options = Linked(4);
  options.overlay.multipath.enabled = false;  // or auxiliary paths would take all there is to the end of the training
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 2);
  cluster->simulator()->network()->Partition(NodeId(1), NodeId(3), absl::Seconds(1));
  ExpectTheOthersFinish(cluster.get(), {});
  EXPECT_GT(cluster->epoch(), Epoch(1));
}

TEST(NamedFaultsTest, ADeadWorkerHoldsUpNobodyAndMayBeReplaced) {
  ClusterOptions options = Linked(3);
  options.overlay.nodes[1].workers = 2;
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 2);
  cluster->processes()->KillWorker({NodeId(2), WorkerId(1)});
  const uint64_t before = cluster->worker(NodeId(1), WorkerId(0))->rounds_done();
  EXPECT_TRUE(cluster->simulator()->RunUntil(
      [&] { return cluster->worker(NodeId(1), WorkerId(0))->rounds_done() > before; }, Seconds(60)));
  cluster->processes()->StartWorker({NodeId(2), WorkerId(1)});
  ExpectTheOthersFinish(cluster.get(), {});
}

// A cluster of so many nodes, of which the last sends chunks of a codec that there is not in round 3.
ClusterOptions WithAStrangeCodec(int nodes) {
  ClusterOptions options = Linked(nodes);
  TamperingProtocol::Tampering tampering;
  tampering.on_action = [](Action* action) {
    auto* send = std::get_if<Send>(action);
    auto* chunk = send == nullptr ? nullptr : std::get_if<ChunkMessage>(&send->message);
    const bool is_chosen =
        chunk != nullptr && chunk->id.round == Round(3) && chunk->route.hop == 0 && !chunk->frames.empty();
    if (is_chosen) chunk->frames[0].codec = static_cast<CodecId>(200);
    return true;
  };
  const NodeId last(static_cast<uint32_t>(nodes));
  options.wrap_core = [=](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node != last) return core;
    return std::make_unique<TamperingProtocol>(std::move(core), tampering);
  };
  return options;
}

TEST(NamedFaultsTest, ChunksThatAreRefusedEndAJobOfTwoWithTheirSourceAndTheReason) {
  Cluster cluster(WithAStrangeCodec(2));
  RunUntilRound(&cluster, 2);
  ExpectFailureEverywhere(&cluster, {"n2: its ", "expected a codec that this version knows", "round 3"},
                          absl::Seconds(10));
}

TEST(NamedFaultsTest, WhoseChunksAreRefusedFallsOutAndTheOthersGoOn) {
  ChangingCluster cluster(WithAStrangeCodec(4));
  const auto are_done = [&] {
    return std::all_of(cluster->workers().begin(), cluster->workers().end(), [](const auto& worker) {
      return worker.second->finished() || worker.second->failure().has_value();
    });
  };
  EXPECT_TRUE(cluster->simulator()->RunUntil(are_done, Seconds(100))) << cluster->WhoWaits();
  for (const auto& [name, worker] : cluster->workers()) {
    EXPECT_TRUE(worker->finished() || name.node == NodeId(4)) << "node " << name.node;
  }
  EXPECT_GE(cluster->epoch(), Epoch(2)) << "node 4 has not fallen out";
  EXPECT_TRUE(cluster->violations()->empty()) << cluster->violations()->Report();
}

// Node 3 of four is handed something else once, or says something else: `tamper` returns whether it was that.
void ExpectNode3ToFallOutAlone(const std::function<bool(Event*)>& tamper_event,
                               const std::function<bool(Action*)>& tamper_action) {
  ClusterOptions options = Linked(4);
  options.plan.rounds = 20;
  options.overlay.policy.lease = absl::ZeroDuration();
  options.steady = {NodeId(1), NodeId(2), NodeId(4)};
  // These hold what any member says for true.
  options.check_messages = !tamper_action;
  bool is_done = false;
  TamperingProtocol::Tampering tampering;
  tampering.on_event = [&](Event* event) { is_done = is_done || (tamper_event && tamper_event(event)); };
  tampering.on_action = [&](Action* action) {
    is_done = is_done || (tamper_action && tamper_action(action));
    return true;
  };
  options.wrap_core = [&](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node != NodeId(3)) return core;
    return std::make_unique<TamperingProtocol>(std::move(core), tampering);
  };
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 2);
  ExpectTheOthersFinish(cluster.get(), {});
  EXPECT_TRUE(is_done);
  EXPECT_GT(cluster->epoch(), Epoch(1)) << "another start of it has joined";
}

TEST(NamedFaultsTest, AnAnswerThatNamesAnUnknownPolicyCostsItsReceiverThePlaceAndNobodyTheJob) {
  const auto name_another = [](Event* event) {
    auto* received = std::get_if<MessageReceived>(event);
    auto* answer = received == nullptr ? nullptr : std::get_if<PolicyAnswer>(&received->message);
    if (answer == nullptr || answer->bindings.empty() || answer->bindings[0].first_round < Round(3)) return false;
    for (PolicyAnswer::Binding& binding : answer->bindings) binding.policy = PolicyVersion(999);
    return true;
  };
  ExpectNode3ToFallOutAlone(name_another, {});
}

TEST(NamedFaultsTest, AWrongHashOfAResultCostsWhoSaysItThePlaceAndNobodyTheJob) {
  const auto say_another = [](Action* action) {
    auto* send = std::get_if<Send>(action);
    auto* closed = send == nullptr ? nullptr : std::get_if<RoundsClosed>(&send->message);
    if (closed == nullptr || closed->entries.empty() || closed->entries[0].round < Round(3)) return false;
    closed->entries[0].hash ^= 1;
    return true;
  };
  ExpectNode3ToFallOutAlone({}, say_another);
}

TEST(NamedFaultsTest, TheOthersGoOnWithoutADeadNode) {
  for (const bool silently : {false, true}) {
    ClusterOptions options = Linked(4);
    ChangingCluster cluster(std::move(options));
    RunUntilRound(cluster.get(), 2);
    cluster->processes()->KillNode(NodeId(3), silently);
    ExpectTheOthersFinish(cluster.get(), {NodeId(3)});
  }
}

TEST(NamedFaultsTest, ANodeCutOffFromTheSchedulerFallsOutAndComesBack) {
  ClusterOptions options = Linked(3);
  options.plan.rounds = 60;
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 2);
  cluster->simulator()->network()->Partition(NodeId(2), kSchedulerNode, absl::Seconds(1));
  cluster->simulator()->agenda()->CallAfter(
      absl::Seconds(9), [&cluster] { cluster->simulator()->network()->Heal(NodeId(2), kSchedulerNode); });
  ExpectTheOthersFinish(cluster.get(), {});
  EXPECT_GT(cluster->epoch(), Epoch(2));
}

// The scheduler hears it all the time.
TEST(NamedFaultsTest, TheOthersGoOnWithoutANodeThatNoneOfThemReaches) {
  ClusterOptions options = Linked(4);
  options.plan.rounds = 60;
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 2);
  for (const uint32_t other : {1u, 2u, 4u}) {
    cluster->simulator()->network()->Partition(NodeId(3), NodeId(other), absl::Seconds(1));
  }
  const Timestamp cut_at = cluster->simulator()->now();
  EXPECT_TRUE(cluster->RunUntilStayersTrained(cut_at, {NodeId(3)}, absl::Seconds(40))) << cluster->WhoWaits();
  EXPECT_GT(cluster->epoch(), Epoch(1));
  for (const uint32_t other : {1u, 2u, 4u}) cluster->simulator()->network()->Heal(NodeId(3), NodeId(other));
  ExpectTheOthersFinish(cluster.get(), {});
}

// With an optimizer a job is lost when all fall out.
TEST(NamedFaultsTest, ASchedulerThatIsCutOffFromAllLosesNobody) {
  for (const AggregationOp op : {AggregationOp::kSum, AggregationOp::kMomentum}) {
    ClusterOptions options = Linked(3);
    options.plan.rounds = 60;
    options.overlay.aggregation.op = op;
    options.plan.nodes_have_parameters = op != AggregationOp::kSum;
    ChangingCluster cluster(std::move(options));
    RunUntilRound(cluster.get(), 2);
    const Epoch before = cluster->epoch();
    for (const uint32_t node : {1u, 2u, 3u}) {
      cluster->simulator()->network()->Partition(NodeId(node), kSchedulerNode, absl::Seconds(1));
      cluster->simulator()->agenda()->CallAfter(absl::Seconds(9) + node * absl::Milliseconds(400), [&cluster, node] {
        cluster->simulator()->network()->Heal(NodeId(node), kSchedulerNode);
      });
    }
    ExpectTheOthersFinish(cluster.get(), {});
    EXPECT_EQ(cluster->epoch(), before);
  }
}

TEST(NamedFaultsTest, ADeadSchedulerHoldsUpRoundsUntilItIsBack) {
  ClusterOptions options = Linked(3);
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 2);
  cluster->processes()->KillScheduler(/*silently=*/true);
  cluster->simulator()->agenda()->CallAfter(
      absl::Seconds(30), [&cluster] { cluster->processes()->StartScheduler(/*with_records=*/true); });
  ExpectTheOthersFinish(cluster.get(), {});
}

TEST(NamedFaultsTest, APauseShorterThanTheHeartbeatLimitOnlyDelays) {
  for (const uint32_t paused : {0u, 1u, 2u}) {
    Cluster cluster(Linked(3));
    RunUntilRound(&cluster, 2);
    cluster.simulator()->process(NodeId(paused))->PauseUntil(cluster.simulator()->now() + absl::Seconds(3));
    EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << "process " << paused;
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  }
}

TEST(NamedFaultsTest, EarlyDataBeyondItsRoomIsAnsweredBusyAndComesOnAGrant) {
  ClusterOptions options = Linked(4);
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n2";
  options.overlay.transport.early_bytes = 2000;  // two chunks
  options.overlay.policy.lease = absl::ZeroDuration();
  options.plan.tensors_apart = true;
  Cluster cluster(std::move(options));
  Counter counter;
  cluster.simulator()->network()->AddObserver(&counter);
  RunUntilRound(&cluster, 1);
  // The root does not hear which policy governs the next rounds while its children send them, for less time than makes
  // it fall out.
  cluster.simulator()->network()->Partition(NodeId(2), kSchedulerNode, absl::ZeroDuration());
  cluster.simulator()->agenda()->CallAfter(
      absl::Milliseconds(900), [&cluster] { cluster.simulator()->network()->Heal(NodeId(2), kSchedulerNode); });
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_GT(counter.busy, 0);
  EXPECT_GT(counter.grants, 0);
}

TEST(NamedFaultsTest, ARelayWithoutRoomIsBusyAndLosesNothing) {
  ClusterOptions options = Linked(5);
  // A line: everything between its ends is relayed.
  options.overlay.links->clear();
  for (int i = 1; i < 5; ++i) {
    LinkConfig& link = options.overlay.links->emplace_back();
    link.a = "n" + std::to_string(i);
    link.b = "n" + std::to_string(i + 1);
    link.a_to_b_bps = i == 3 ? 2e6 : 2e7;
    link.b_to_a_bps = 2e7;
    link.delay = absl::Milliseconds(5);
  }
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n5";
  options.overlay.transport.relay_bytes = 4000;
  options.plan.rounds = 3;
  Cluster cluster(std::move(options));
  Counter counter;
  cluster.simulator()->network()->AddObserver(&counter);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_GT(counter.busy, 0);
  EXPECT_GT(counter.grants, 0);
}

// When the results of each tensor came to each node.
class ResultTimes : public WorkerListener {
 public:
  void OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float>) override {
    times[{worker.node, round, tensor}] = now;
  }
  std::map<std::tuple<NodeId, Round, size_t>, Timestamp> times;
};

TEST(NamedFaultsTest, AKeyOfHigherPriorityOvertakesALargeOne) {
  ResultTimes results;
  ClusterOptions options = Linked(3);
  options.listener = &results;
  options.overlay.chunks.max_elements = 2000;
  options.overlay.transport.window_bytes = 20000;
  // The last tensor is pushed first.
  options.plan.tensors = {{"urgent", 4000, 5}, {"large", 80000, 0}};
  options.plan.rounds = 2;
  Cluster cluster(std::move(options));
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60)));
  for (uint32_t node = 1; node <= 3; ++node) {
    const Timestamp urgent = results.times.at({NodeId(node), Round(2), 0});
    const Timestamp large = results.times.at({NodeId(node), Round(2), 1});
    const absl::Duration push = urgent - cluster.clock().rounds().at(Round(2)).last_push;
    EXPECT_LT(push, 0.5 * (large - cluster.clock().rounds().at(Round(2)).last_push)) << "node " << node;
  }
}

TEST(NamedFaultsTest, ANodesMemoryStaysWithinThreeModelsAndItsWorkersSegment) {
  for (const char* planner : {"fapt", "star", "mst"}) {
    ClusterOptions options = Linked(5);
    options.overlay.topology.planner = planner;
    options.overlay.membership.heartbeat = absl::Milliseconds(5);  // reports come with it
    options.plan.tensors = {{"w", 30000, 0}, {"b", 10000, 0}};
    // Round 1 begins when all have the initial values: whoever gives them holds them twice until then.
    options.plan.barrier_every = options.plan.rounds + 1;
    MemoryChecker::Limits limits;
    limits.model_bytes = 4 * 40000;
    limits.worker_segment_bytes = 4 * 40000;
    Cluster cluster(std::move(options));
    MemoryChecker memory(limits, cluster.violations());
    cluster.simulator()->network()->AddObserver(&memory);
    EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
    EXPECT_GT(memory.reports(), 100);
    EXPECT_GT(memory.most_round_bytes(), limits.model_bytes);
  }
}

TEST(NamedFaultsTest, InitialValuesAreThoseOfTheLowestWorker) {
  ClusterOptions options = Linked(4);
  options.overlay.nodes[0].workers = 2;
  options.plan.rounds = 0;
  options.start_within = absl::Seconds(2);
  Cluster cluster(std::move(options));
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60)));
  EXPECT_EQ(cluster.results().results(), 5 * 2);
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_TRUE(cluster.StopAll(Seconds(90))) << cluster.violations()->Report();
}

// Counts those who were told that the job has failed.
class FailureCounter : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    if (std::holds_alternative<JobFailed>(sent.message)) ++told;
  }

  int64_t told = 0;
};

TEST(NamedFaultsTest, NodesThatStayIdleAfterOthersHaveLeftLoseNothing) {
  for (const absl::Duration lease : {absl::ZeroDuration(), absl::Minutes(2)}) {
    ClusterOptions options = Linked(4);
    options.overlay.policy.lease = lease;
    options.plan.idle_time = {{NodeId(2), absl::Minutes(1)}, {NodeId(3), absl::Minutes(10)}};
    Cluster cluster(std::move(options));
    FailureCounter failures;
    cluster.simulator()->network()->AddObserver(&failures);
    // Some are gone for good, others left and their daemons stay, and some have yet to leave.
    RunUntilRound(&cluster, 6);
    cluster.simulator()->RunUntil([] { return false; }, cluster.simulator()->now() + absl::Seconds(30));
    cluster.simulator()->process(NodeId(1))->RequestStop();
    EXPECT_TRUE(cluster.RunUntilTrained(Seconds(1000))) << cluster.WhoWaits();
    EXPECT_EQ(failures.told, 0);
    EXPECT_TRUE(cluster.StopAll(cluster.simulator()->now() + absl::Minutes(1)));
    EXPECT_EQ(failures.told, 0);
    EXPECT_TRUE(cluster.failures().empty());
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  }
}

TEST(NamedFaultsTest, TheOthersGoOnWithoutANodeThatIsAskedToStop) {
  ClusterOptions options = Linked(3);
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 2);
  cluster->processes()->Stop(NodeId(2));
  ExpectTheOthersFinish(cluster.get(), {NodeId(2)});
}

}  // namespace
}  // namespace banyan
