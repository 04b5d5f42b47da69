#include "node/node_core.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr KeyId kKey(1);

JobConfig Config(AggregationOp op = AggregationOp::kMean) {
  JobConfig config;
  config.job = "job";
  config.aggregation.op = op;
  config.chunk_max_elements = 2;
  return config;
}

// Two trees: 1 <- 2 <- 3 up and 1 -> 3 -> 2 down; 3 <- 1, 3 <- 2 up and 3 -> 2 -> 1 down.
TestPlan TwoTrees() {
  return {3, {{1, {{3, 2}, {2, 1}}, {{3, 1}, {2, 3}}}, {3, {{1, 3}, {2, 3}}, {{2, 3}, {1, 2}}}}, {}};
}

TEST(NodeCoreTest, ValuesOfTheLowestNodeReachAll) {
  TestCluster cluster(Config(), TwoTrees());
  cluster.Start();
  std::vector<RequestId> requests;
  for (uint32_t node : {3u, 1u, 2u}) {
    cluster.Attach(node);
    requests.push_back(cluster.Init(node, 0, "w", {1.0f * node, 2.0f * node, 3, 4, 5}));
  }
  for (RequestId request : requests) {
    EXPECT_EQ(cluster.StatusOf(request), absl::OkStatus());
    EXPECT_EQ(cluster.Completion(request).key, kKey);
    EXPECT_EQ(cluster.Completion(request).round, Round(0));
    EXPECT_THAT(cluster.Result(request), ElementsAre(1, 2, 3, 4, 5));
  }
  EXPECT_TRUE(cluster.scheduler().unequal_hashes.empty());
}

// Pushes 10 * round + node in element 0 and ones elsewhere on every node; the requests.
std::vector<RequestId> PushEverywhere(TestCluster& cluster, uint32_t nodes, uint32_t round) {
  std::vector<RequestId> requests;
  for (uint32_t node = 1; node <= nodes; ++node) {
    requests.push_back(cluster.Push(node, 0, kKey, {10.0f * round + node, 1, 1, 1, 1}));
  }
  return requests;
}

TEST(NodeCoreTest, SumsOverAllMembers) {
  TestCluster cluster(Config(AggregationOp::kSum), TwoTrees());
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  for (uint32_t round = 1; round <= 3; ++round) {
    for (RequestId request : PushEverywhere(cluster, 3, round)) {
      EXPECT_EQ(cluster.StatusOf(request), absl::OkStatus());
      EXPECT_EQ(cluster.Completion(request).round, Round(round));
      EXPECT_THAT(cluster.Result(request), ElementsAre(30 * round + 6, 3, 3, 3, 3));
    }
  }
  EXPECT_TRUE(cluster.scheduler().unequal_hashes.empty());
}

TEST(NodeCoreTest, MeanDividesByAllWorkers) {
  JobConfig config = Config(AggregationOp::kMean);
  config.workers = 2;
  TestCluster cluster(config, TwoTrees());
  cluster.Start();
  for (uint32_t node = 1; node <= 3; ++node) {
    for (uint32_t worker : {0u, 1u}) cluster.Attach(node, worker);
    for (uint32_t worker : {0u, 1u}) cluster.Init(node, worker, "w", {0, 0, 0});
  }
  std::vector<RequestId> requests;
  for (uint32_t node = 1; node <= 3; ++node) {
    for (uint32_t worker : {0u, 1u})
      requests.push_back(cluster.Push(node, worker, kKey, {1.0f * node, 6.0f * worker, 1}));
  }
  for (RequestId request : requests) EXPECT_THAT(cluster.Result(request), ElementsAre(2, 3, 1));
}

TEST(NodeCoreTest, OneNodeAloneIsRootAndLeaf) {
  TestCluster cluster(Config(), TestPlan::Star(1));
  cluster.Start();
  cluster.InitEverywhere({1, 2, 3});
  EXPECT_THAT(cluster.Result(cluster.Push(1, 0, kKey, {4, 5, 6})), ElementsAre(4, 5, 6));
}

// What one process with all the gradients would compute.
std::vector<float> Expected(const AggregationConfig& config, std::vector<float> values, uint32_t rounds) {
  std::vector<double> velocity(values.size()), m(values.size()), v(values.size());
  for (uint32_t round = 1; round <= rounds; ++round) {
    for (size_t i = 0; i < values.size(); ++i) {
      const double g = (i == 0 ? 10.0 * round + 2 : 1.0) + config.weight_decay * values[i];
      velocity[i] = config.momentum * velocity[i] + g;
      m[i] = config.beta1 * m[i] + (1 - config.beta1) * g;
      v[i] = config.beta2 * v[i] + (1 - config.beta2) * g * g;
      const double m_hat = m[i] / (1 - std::pow(config.beta1, round));
      const double v_hat = v[i] / (1 - std::pow(config.beta2, round));
      double step = g;
      if (config.op == AggregationOp::kMomentum) step = velocity[i];
      if (config.op == AggregationOp::kNesterov) step = g + config.momentum * velocity[i];
      if (config.op == AggregationOp::kAdam) step = m_hat / (std::sqrt(v_hat) + config.epsilon);
      values[i] = static_cast<float>(values[i] - config.learning_rate * step);
    }
  }
  return values;
}

TEST(NodeCoreTest, EachOptimizerGivesWhatOneProcessComputes) {
  for (AggregationOp op :
       {AggregationOp::kSgd, AggregationOp::kMomentum, AggregationOp::kNesterov, AggregationOp::kAdam}) {
    JobConfig config = Config(op);
    config.aggregation.weight_decay = 0.1;
    config.rounds_in_flight = 2;
    TestCluster cluster(config, TwoTrees());
    cluster.Start();
    cluster.InitEverywhere({1, 2, 3, 4, 5});
    for (uint32_t round = 1; round <= 4; ++round) {
      const std::vector<float> expected = Expected(config.aggregation, {1, 2, 3, 4, 5}, round);
      for (RequestId request : PushEverywhere(cluster, 3, round)) {
        ASSERT_EQ(cluster.StatusOf(request), absl::OkStatus());
        for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(cluster.Result(request)[i], expected[i], 1e-5);
      }
    }
    EXPECT_TRUE(cluster.scheduler().unequal_hashes.empty());
  }
}

TEST(NodeCoreTest, BroadcastReplacesAnOptimizersValues) {
  TestCluster cluster(Config(AggregationOp::kSgd), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({1, 2, 3});
  const RequestId first = cluster.Broadcast(1, 0, kKey, {7, 8, 9});
  const RequestId second = cluster.Broadcast(2, 0, kKey, {0, 0, 0});
  EXPECT_THAT(cluster.Result(first), ElementsAre(7, 8, 9));
  EXPECT_THAT(cluster.Result(second), ElementsAre(7, 8, 9));
  cluster.Push(1, 0, kKey, {100, 0, 0});
  EXPECT_THAT(cluster.Result(cluster.Push(2, 0, kKey, {100, 0, 0})), ElementsAre(6, 8, 9));
}

TEST(NodeCoreTest, AMemberThatBroadcastsWhileAnotherPushesEndsTheJob) {
  TestCluster cluster(Config(), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({1, 2, 3});
  cluster.Push(2, 0, kKey, {1, 2, 3});
  const RequestId request = cluster.Broadcast(1, 0, kKey, {7, 8, 9});
  EXPECT_EQ(cluster.StatusOf(request).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(cluster.StatusOf(request).message()),
      AllOf(HasSubstr("key 'w' round 1"), HasSubstr("n1 cannot finish round 1 of key 'w': n2: members disagree")));
  // Its own workers are not to blame.
  EXPECT_TRUE(cluster.scheduler().Said<WorkerLost>(1).empty());
  const std::vector<RoundBroken> said = cluster.scheduler().Said<RoundBroken>(1);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].key, kKey);
  EXPECT_EQ(said[0].round, Round(1));
  EXPECT_EQ(said[0].culprit, NodeId(2));
}

TEST(NodeCoreTest, ATreeEdgeWithoutALinkGoesOverARelay) {
  // 3 hangs on 1, but only over 2.
  TestPlan plan{3, {{1, {{2, 1}, {3, 1}}, {{2, 1}, {3, 1}}}}, {{1, 2, 3}, {3, 2, 1}}};
  TestCluster cluster(Config(AggregationOp::kSum), plan);
  int direct = 0;
  cluster.filter = [&](uint32_t from, uint32_t to, const Message&) {
    direct += from + to == 4 && from != to;
    return TestCluster::Fate::kDeliver;
  };
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  for (RequestId request : PushEverywhere(cluster, 3, 1)) {
    EXPECT_THAT(cluster.Result(request), ElementsAre(36, 3, 3, 3, 3));
  }
  EXPECT_EQ(direct, 0);
  cluster.Advance(absl::Seconds(2));
  EXPECT_EQ(cluster.Memory(3, "undelivered"), 0u);
  EXPECT_EQ(cluster.Memory(1, "undelivered"), 0u);
  EXPECT_EQ(cluster.Memory(2, "relayed"), 0u);
}

TEST(NodeCoreTest, EveryMessageTwiceCountsOnce) {
  TestCluster cluster(Config(AggregationOp::kSum), TwoTrees());
  cluster.filter = [](uint32_t, uint32_t, const Message&) { return TestCluster::Fate::kTwice; };
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  for (uint32_t round = 1; round <= 3; ++round) {
    for (RequestId request : PushEverywhere(cluster, 3, round)) {
      EXPECT_THAT(cluster.Result(request), ElementsAre(30 * round + 6, 3, 3, 3, 3));
    }
  }
}

TEST(NodeCoreTest, LostMessagesCostAResendNotTheRound) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    TestCluster cluster(Config(AggregationOp::kSum), TwoTrees());
    cluster.Start();
    cluster.InitEverywhere({0, 0, 0, 0, 0});
    Random random(seed);
    cluster.filter = [&](uint32_t, uint32_t, const Message& message) {
      const bool may_be_lost = !std::holds_alternative<PeerHello>(message);
      return may_be_lost && random.Chance(0.2) ? TestCluster::Fate::kDrop : TestCluster::Fate::kDeliver;
    };
    for (uint32_t round = 1; round <= 3; ++round) {
      const std::vector<RequestId> requests = PushEverywhere(cluster, 3, round);
      cluster.Advance(absl::Minutes(30));
      for (RequestId request : requests) {
        EXPECT_THAT(cluster.Result(request), ElementsAre(30 * round + 6, 3, 3, 3, 3));
      }
    }
  }
}

TEST(NodeCoreTest, ABrokenConnectionCostsAResendNotTheRound) {
  TestCluster cluster(Config(AggregationOp::kSum), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  cluster.filter = [](uint32_t, uint32_t, const Message& message) {
    return std::holds_alternative<ChunkMessage>(message) ? TestCluster::Fate::kDrop : TestCluster::Fate::kDeliver;
  };
  const std::vector<RequestId> requests = PushEverywhere(cluster, 2, 1);
  EXPECT_FALSE(cluster.IsDone(requests[0]));
  cluster.filter = nullptr;
  cluster.BreakConnections(2, 1);
  cluster.Run();
  for (RequestId request : requests) EXPECT_THAT(cluster.Result(request), ElementsAre(23, 2, 2, 2, 2));
}

TEST(NodeCoreTest, EarlyDataIsKeptUntilThePolicyArrives) {
  TestCluster cluster(Config(AggregationOp::kSum), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  // Leases end here: round 1 was asked for ahead.
  PushEverywhere(cluster, 2, 1);
  cluster.scheduler().hold_policies = {1};
  PushEverywhere(cluster, 2, 2);
  const std::vector<RequestId> requests = PushEverywhere(cluster, 2, 3);
  EXPECT_FALSE(cluster.IsDone(requests[0]));
  cluster.Advance(absl::Seconds(1));
  EXPECT_GT(cluster.Memory(1, "early"), 0u);
  cluster.scheduler().ReleasePolicies();
  cluster.Run();
  for (RequestId request : requests) EXPECT_THAT(cluster.Result(request), ElementsAre(63, 2, 2, 2, 2));
  cluster.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster.Memory(1, "early"), 0u);
}

TEST(NodeCoreTest, AFullEarlyStoreAnswersBusyAndGrantsLater) {
  JobConfig config = Config(AggregationOp::kSum);
  config.early_bytes = 400;  // one chunk
  TestCluster cluster(config, TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  PushEverywhere(cluster, 2, 1);
  cluster.scheduler().hold_policies = {1};
  PushEverywhere(cluster, 2, 2);
  int busy = 0, grants = 0;
  cluster.filter = [&](uint32_t, uint32_t, const Message& message) {
    busy += std::holds_alternative<Busy>(message);
    grants += std::holds_alternative<Grant>(message);
    return TestCluster::Fate::kDeliver;
  };
  const std::vector<RequestId> requests = PushEverywhere(cluster, 2, 3);
  EXPECT_EQ(busy, 2);
  EXPECT_FALSE(cluster.IsDone(requests[0]));
  cluster.scheduler().ReleasePolicies();
  cluster.Run();
  EXPECT_GE(grants, 1);
  for (RequestId request : requests) EXPECT_THAT(cluster.Result(request), ElementsAre(63, 2, 2, 2, 2));
}

TEST(NodeCoreTest, ATooSmallEarlyStoreGrantsAllTheSame) {
  JobConfig config = Config(AggregationOp::kSum);
  config.early_bytes = 1;  // not even one chunk
  TestCluster cluster(config, TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  PushEverywhere(cluster, 2, 1);
  cluster.scheduler().hold_policies = {1};
  PushEverywhere(cluster, 2, 2);
  const std::vector<RequestId> requests = PushEverywhere(cluster, 2, 3);
  cluster.scheduler().ReleasePolicies();
  cluster.Run();
  for (RequestId request : requests) EXPECT_THAT(cluster.Result(request), ElementsAre(63, 2, 2, 2, 2));
}

TEST(NodeCoreTest, TwoRoundsInFlight) {
  JobConfig config = Config(AggregationOp::kSum);
  config.rounds_in_flight = 2;
  TestCluster cluster(config, TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  std::vector<RequestId> of_first;
  for (uint32_t round = 1; round <= 2; ++round)
    of_first.push_back(cluster.Push(2, 0, kKey, {1.0f * round, 1, 1, 1, 1}));
  EXPECT_FALSE(cluster.IsDone(of_first[0]));
  for (uint32_t round = 1; round <= 2; ++round) {
    const RequestId request = cluster.Push(1, 0, kKey, {1.0f * round, 1, 1, 1, 1});
    EXPECT_THAT(cluster.Result(request), ElementsAre(2 * round, 2, 2, 2, 2));
    EXPECT_THAT(cluster.Result(of_first[round - 1]), ElementsAre(2 * round, 2, 2, 2, 2));
  }
}

// Results of round 1 are held while round 2 overtakes it everywhere.
TEST(NodeCoreTest, ARoundThatClosesBeforeAnEarlierOneTakesNothingFromIt) {
  JobConfig config = Config(AggregationOp::kSum);
  config.rounds_in_flight = 2;
  config.window_bytes = 1 << 20;  // what is held back keeps nothing else from going
  TestCluster cluster(config, TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  cluster.filter = [](uint32_t, uint32_t, const Message& message) {
    const auto* chunk = std::get_if<ChunkMessage>(&message);
    return chunk != nullptr && chunk->id.round == Round(1) && chunk->id.half == Half::kBroadcast
               ? TestCluster::Fate::kHold
               : TestCluster::Fate::kDeliver;
  };
  std::vector<RequestId> requests;
  for (uint32_t round = 1; round <= 2; ++round) {
    for (uint32_t node : {1u, 2u}) requests.push_back(cluster.Push(node, 0, kKey, {1.0f * round, 1, 1, 1, 1}));
  }
  EXPECT_FALSE(cluster.IsDone(requests[1]));
  EXPECT_TRUE(cluster.IsDone(requests[3]));
  cluster.filter = nullptr;
  cluster.ReleaseHeld();
  EXPECT_THAT(cluster.Result(requests[1]), ElementsAre(2, 2, 2, 2, 2));
  for (uint32_t round = 3; round <= 6; ++round) {
    cluster.Push(1, 0, kKey, {1.0f * round, 1, 1, 1, 1});
    EXPECT_THAT(cluster.Result(cluster.Push(2, 0, kKey, {1.0f * round, 1, 1, 1, 1})),
                ElementsAre(2 * round, 2, 2, 2, 2));
  }
}

TEST(NodeCoreTest, MemoryGoesWithTheLastRoundToo) {
  TestCluster cluster(Config(AggregationOp::kSum), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  PushEverywhere(cluster, 2, 1);
  cluster.scheduler().hold_closed = true;
  PushEverywhere(cluster, 2, 2);
  cluster.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster.Memory(2, "contributions"), 0u) << "the result takes its place";
  EXPECT_EQ(cluster.Memory(2, "undelivered"), 0u);
  cluster.scheduler().ReleaseClosed();
  cluster.Run();
  cluster.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster.Memory(2, "contributions"), 0u);
  EXPECT_EQ(cluster.Memory(1, "sums"), 0u);
  // The newest result stays for a late Pull, no older one.
  EXPECT_EQ(cluster.Memory(1, "results"), 20u);
  EXPECT_EQ(cluster.Memory(2, "results"), 20u);
  EXPECT_THAT(cluster.Result(cluster.Pull(1, 0, kKey)), ElementsAre(43, 2, 2, 2, 2));
}

// A later result proves that all hold the earlier one: nobody waits for the scheduler's word.
TEST(NodeCoreTest, RoundsGoOnAndMemoryGoesThoughTheSchedulerClosesNone) {
  TestCluster cluster(Config(AggregationOp::kSum), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  cluster.scheduler().hold_closed = true;
  for (int round = 1; round <= 9; ++round) {
    const std::vector<RequestId> pushed = PushEverywhere(cluster, 2, round);
    EXPECT_EQ(cluster.Result(pushed[0])[1], 2) << "round " << round;
  }
  cluster.Advance(absl::Seconds(1));
  const uint64_t of_two_rounds = 2 * 20;
  EXPECT_LE(cluster.Memory(1, "results"), of_two_rounds);
  EXPECT_LE(cluster.Memory(2, "results"), of_two_rounds);
  EXPECT_EQ(cluster.Memory(2, "contributions"), 0u);
}

TEST(NodeCoreTest, ProgressNamesTheLastCompleteRound) {
  TestCluster cluster(Config(AggregationOp::kSum), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  PushEverywhere(cluster, 2, 1);
  PushEverywhere(cluster, 2, 2);
  cluster.Push(1, 0, kKey, {1, 1, 1, 1, 1});  // round 3 is under way
  cluster.Advance(absl::Seconds(1));
  const std::vector<NodeReport> reports = cluster.scheduler().Said<NodeReport>(1);
  ASSERT_FALSE(reports.empty());
  ASSERT_EQ(reports.back().progress.size(), 1u);
  EXPECT_EQ(reports.back().progress[0].round, Round(2));
  EXPECT_EQ(reports.back().progress[0].pushed, Round(3));
}

TEST(NodeCoreTest, HelloBeforeThisNodeHasJoinedIsRemembered) {
  TestCluster cluster(Config(AggregationOp::kSum), TestPlan::Chain(2));
  // Node 1 joins only after node 2 has connected to it.
  cluster.Step(1, Started{});
  const ConnectionId connection = cluster.ConnectAs(1, 2);
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  const uint64_t before = cluster.Rejected(1);
  cluster.Inject(1, connection, PeerHeartbeat{cluster.now(), std::nullopt});
  cluster.Advance(absl::Seconds(2));
  EXPECT_EQ(cluster.Rejected(1), before);
}

TEST(NodeCoreTest, WarnsOfKeysThatGrowWithTheSteps) {
  TestCluster cluster(Config(), TestPlan::Chain(2));
  cluster.Start();
  const auto told = [&cluster] {
    return std::count_if(cluster.logs().begin(), cluster.logs().end(), [](const LogLine& line) {
      return line.level == LogLevel::kWarning && absl::StrContains(line.text, "a name is for the life of a job");
    });
  };
  std::vector<KeySlice> keys;
  for (uint32_t id = 1; id <= 8192; ++id) keys.push_back({KeyId(id), absl::StrCat("step", id), 1});
  const auto assign = [&](uint32_t first, uint32_t last) {
    cluster.Inject(1, kSchedulerConnection,
                   KeysAssigned{Term(7), KeyTableVersion(last), {keys.begin() + first - 1, keys.begin() + last}});
  };
  assign(1, 4095);
  EXPECT_EQ(told(), 0);
  assign(4096, 4096);
  EXPECT_EQ(told(), 1);
  assign(4097, 8191);
  assign(4097, 8191);  // told again after a reconnection
  EXPECT_EQ(told(), 1);
  assign(8192, 8192);
  EXPECT_EQ(told(), 2);
}

TEST(NodeCoreTest, SaysEverythingAgainAfterTheSchedulerCameBack) {
  TestCluster cluster(Config(AggregationOp::kSum), TestPlan::Chain(2));
  cluster.Start();
  cluster.InitEverywhere({0, 0, 0, 0, 0});
  PushEverywhere(cluster, 2, 1);
  cluster.scheduler().silent = true;
  const std::vector<RequestId> requests = PushEverywhere(cluster, 2, 2);
  PushEverywhere(cluster, 2, 3);
  cluster.scheduler().silent = false;
  cluster.BreakSchedulerConnection(1);
  cluster.BreakSchedulerConnection(2);
  cluster.Run();
  EXPECT_THAT(cluster.Result(requests[0]), ElementsAre(43, 2, 2, 2, 2));
  EXPECT_THAT(cluster.Result(PushEverywhere(cluster, 2, 4)[1]), ElementsAre(83, 2, 2, 2, 2));
}

}  // namespace
}  // namespace banyan
