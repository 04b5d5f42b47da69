// How jobs end: a lost neighbour, scheduler or message, a stop, a failed job; nothing hangs and everything is answered.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr KeyId kKey(1);

JobConfig Config() {
  JobConfig config;
  config.job = "job";
  config.aggregation.op = AggregationOp::kSum;
  config.chunk_max_elements = 2;
  config.scheduler_lost_after = absl::Seconds(60);
  return config;
}

class NodeCoreFailureTest : public ::testing::Test {
 protected:
  NodeCoreFailureTest() : cluster_(Config(), TestPlan::Chain(2)) { cluster_.Start(); }
  // The levels of the lines that contain `part`.
  std::vector<LogLevel> LevelsOf(const std::string& part) {
    std::vector<LogLevel> levels;
    for (const LogLine& line : cluster_.logs()) {
      if (line.text.find(part) != std::string::npos) levels.push_back(line.level);
    }
    return levels;
  }
  std::string MessageOf(RequestId request) { return std::string(cluster_.StatusOf(request).message()); }

  TestCluster cluster_;
};

TEST_F(NodeCoreFailureTest, AFailedJobAnswersWaitingAndLaterCalls) {
  cluster_.InitEverywhere({1, 2, 3});
  const RequestId push = cluster_.Push(2, 0, kKey, {1, 2, 3});
  const RequestId barrier = cluster_.Barrier(2, 0);
  cluster_.scheduler().SayToAll(JobFailed{Term(7), absl::StatusCode::kDataLoss, "n9 is gone"});
  cluster_.Run();
  EXPECT_EQ(cluster_.StatusOf(push), absl::DataLossError("key 'w' round 1: n9 is gone"));
  EXPECT_EQ(cluster_.StatusOf(barrier), absl::DataLossError("barrier 0: n9 is gone"));
  EXPECT_THAT(LevelsOf("n9 is gone"), ElementsAre(LogLevel::kError, LogLevel::kError));
  EXPECT_EQ(cluster_.StatusOf(cluster_.Push(2, 0, kKey, {1, 2, 3})),
            absl::DataLossError("key 'w' round 2: n9 is gone"));
  EXPECT_EQ(MessageOf(cluster_.Attach(2, 0)), "worker 0: n9 is gone");
  cluster_.Advance(absl::Seconds(1));
  for (const char* what : {"contributions", "sums", "results", "undelivered", "early"}) {
    EXPECT_EQ(cluster_.Memory(2, what), 0u) << what;
  }
}

// The scheduler would take it for answered, and this node would wait for ever.
TEST_F(NodeCoreFailureTest, WhatThisNodeCannotTakeIsReported) {
  cluster_.InitEverywhere({1, 2, 3});
  PolicyAnswer answer{Term(7), Epoch(1), {}};
  for (uint64_t round : {50, 60}) {
    answer.bindings.push_back({kKey, Round(round), Round(round), PolicyVersion(99), Attempt(0), 2});
  }
  cluster_.scheduler().Say(2, answer);
  cluster_.Run();
  const std::vector<CannotFollow> said = cluster_.scheduler().Said<CannotFollow>(2);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].reason,
            "it cannot take the scheduler's policy answer: key 1 round 50 is bound to policy 99, which was never "
            "published here");
  EXPECT_THAT(LevelsOf("n2 falls out: it cannot take the scheduler's policy answer"), ElementsAre(LogLevel::kError));
  EXPECT_TRUE(cluster_.scheduler().Said<CannotFollow>(1).empty());
}

TEST_F(NodeCoreFailureTest, APlanThatThisNodeCannotTakeOrReadIsReported) {
  cluster_.InitEverywhere({1, 2, 3});
  cluster_.scheduler().Say(1, EpochPlan{Term(7), Epoch(2), PolicyVersion(99), {}, {}});
  cluster_.Step(2, MessageRejected{kSchedulerConnection, absl::InvalidArgumentError("malformed EpochPlan: more came")});
  cluster_.Run();
  ASSERT_EQ(cluster_.scheduler().Said<CannotFollow>(1).size(), 1u);
  EXPECT_THAT(cluster_.scheduler().Said<CannotFollow>(1)[0].reason,
              HasSubstr("epoch plan: the plan of epoch 2 names policy 99, which was never published here"));
  ASSERT_EQ(cluster_.scheduler().Said<CannotFollow>(2).size(), 1u);
  EXPECT_THAT(cluster_.scheduler().Said<CannotFollow>(2)[0].reason, HasSubstr("message: malformed EpochPlan"));
}

TEST_F(NodeCoreFailureTest, ALostNeighbourIsReportedOnce) {
  cluster_.InitEverywhere({1, 2, 3});
  cluster_.Advance(absl::Seconds(60));
  EXPECT_TRUE(cluster_.scheduler().Said<PeerLost>(1).empty());
  cluster_.Kill(2);
  cluster_.Advance(absl::Seconds(60));
  ASSERT_EQ(cluster_.scheduler().Said<PeerLost>(1).size(), 1u);
  EXPECT_EQ(cluster_.scheduler().Said<PeerLost>(1)[0].peer, NodeId(2));
}

// What was true while the scheduler was away may not be true when it is back.
TEST_F(NodeCoreFailureTest, ANeighbourThatSpeaksAgainIsNotLostToASchedulerThatComesBack) {
  for (const bool speaks_again : {true, false}) {
    TestCluster cluster(Config(), TestPlan::Chain(2));
    cluster.Start();
    cluster.InitEverywhere({1, 2, 3});
    cluster.filter = [](uint32_t from, uint32_t, const Message&) {
      return from == 2 ? TestCluster::Fate::kDrop : TestCluster::Fate::kDeliver;
    };
    cluster.Advance(absl::Seconds(3));
    cluster.Step(1, ConnectionDown{kSchedulerConnection});
    cluster.Advance(absl::Milliseconds(3200));
    if (speaks_again) cluster.filter = nullptr;
    cluster.Advance(absl::Milliseconds(1200));
    cluster.Step(1, ConnectionUp{kSchedulerConnection});
    cluster.Run();
    EXPECT_EQ(cluster.scheduler().Said<PeerLost>(1).size(), speaks_again ? 0u : 1u);
  }
}

TEST_F(NodeCoreFailureTest, ASchedulerThatIsLostForLongEndsTheJob) {
  cluster_.InitEverywhere({1, 2, 3});
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2, 3});
  cluster_.scheduler().silent = true;
  cluster_.Advance(absl::Seconds(59));
  EXPECT_FALSE(cluster_.IsDone(push));
  cluster_.Advance(absl::Seconds(3));
  EXPECT_EQ(cluster_.StatusOf(push).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(MessageOf(push), AllOf(HasSubstr("key 'w' round 1"), HasSubstr("nothing heard from the scheduler")));
}

TEST_F(NodeCoreFailureTest, AStopAnswersAllAndLeaves) {
  cluster_.InitEverywhere({1, 2, 3});
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2, 3});
  cluster_.Step(1, StopRequested{});
  EXPECT_EQ(cluster_.StatusOf(push), absl::UnavailableError("key 'w' round 1: node n1 was stopped"));
  EXPECT_THAT(LevelsOf("was stopped"), ElementsAre(LogLevel::kInfo));
  EXPECT_EQ(cluster_.stopped().at(1), absl::OkStatus());
  ASSERT_EQ(cluster_.scheduler().Said<Leave>(1).size(), 1u);
  EXPECT_TRUE(cluster_.scheduler().Said<Leave>(1)[0].asked_for);
}

TEST_F(NodeCoreFailureTest, AStopOfTheSchedulerIsAWarning) {
  cluster_.InitEverywhere({1, 2, 3});
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2, 3});
  cluster_.scheduler().SayToAll(JobFailed{Term(7), absl::StatusCode::kUnavailable, "scheduler stopped", true});
  cluster_.Run();
  EXPECT_EQ(cluster_.StatusOf(push), absl::UnavailableError("key 'w' round 1: scheduler stopped"));
  EXPECT_THAT(LevelsOf("scheduler stopped"), ElementsAre(LogLevel::kWarning, LogLevel::kWarning));
}

TEST_F(NodeCoreFailureTest, AStopWaitsForTheLastRoundsToCloseButNotForEver) {
  cluster_.InitEverywhere({1, 2, 3});
  cluster_.scheduler().hold_closed = true;
  for (uint32_t node : {1, 2}) cluster_.Push(node, 0, kKey, {1, 2, 3});
  for (uint32_t node : {1, 2}) {
    cluster_.Detach(node, 0, true);
    cluster_.Step(node, StopRequested{});
  }
  cluster_.Advance(absl::Seconds(4));
  EXPECT_TRUE(cluster_.stopped().empty());
  cluster_.Advance(absl::Seconds(2));
  for (uint32_t node : {1, 2}) {
    EXPECT_EQ(cluster_.stopped().at(node), absl::OkStatus());
    EXPECT_EQ(cluster_.scheduler().Said<Leave>(node).size(), 1u);
  }
}

TEST_F(NodeCoreFailureTest, ARefusedJoinStopsTheNodeWithTheReason) {
  TestCluster cluster(Config(), TestPlan::Chain(2));
  cluster.scheduler().silent = true;
  cluster.Start();
  const RequestId attach = cluster.Attach(1);
  cluster.Inject(1, kSchedulerConnection, JoinRefused{Term(7), "no node n1 in the overlay"});
  EXPECT_THAT(std::string(cluster.stopped().at(1).message()), HasSubstr("no node n1 in the overlay"));
  EXPECT_FALSE(cluster.StatusOf(attach).ok());
  EXPECT_FALSE(cluster.StatusOf(cluster.Attach(1)).ok());
}

TEST_F(NodeCoreFailureTest, WhoComesToAJobThatIsOverStopsWithoutAnError) {
  TestCluster cluster(Config(), TestPlan::Chain(2));
  cluster.scheduler().silent = true;
  cluster.Start();
  const RequestId attach = cluster.Attach(1);
  cluster.Inject(1, kSchedulerConnection, JoinRefused{Term(7), "the job is over", false, true});
  EXPECT_EQ(cluster.stopped().at(1), absl::OkStatus());
  EXPECT_THAT(std::string(cluster.StatusOf(attach).message()), HasSubstr("nothing left to do: the job is over"));
}

TEST_F(NodeCoreFailureTest, WhoFellOutStopsSoThatAnotherStartMayJoin) {
  cluster_.InitEverywhere({1, 2, 3});
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2, 3});
  cluster_.Inject(1, kSchedulerConnection, JoinRefused{Term(7), "it was silent for 5s", true});
  EXPECT_EQ(cluster_.stopped().at(1), absl::AbortedError("n1 fell out of the job (epoch 1): it was silent for 5s"));
  EXPECT_EQ(cluster_.StatusOf(push).code(), absl::StatusCode::kAborted);
}

TEST_F(NodeCoreFailureTest, AJoinWithoutAnAnswerIsSaidAgain) {
  TestCluster cluster(Config(), TestPlan::Chain(2));
  cluster.scheduler().silent = true;
  cluster.Start();
  cluster.Advance(absl::Seconds(16));
  EXPECT_EQ(cluster.scheduler().Said<Join>(1).size(), 4u);
  cluster.scheduler().silent = false;
  cluster.Advance(absl::Seconds(5));
  cluster.InitEverywhere({1, 2, 3});
  EXPECT_EQ(cluster.scheduler().Said<Join>(1).size(), 5u);
}

TEST_F(NodeCoreFailureTest, CallsBeforeTheJoinWaitWithinABound) {
  TestCluster cluster(Config(), TestPlan::Star(1));
  const RequestId first = cluster.Attach(1);
  RequestId last;
  for (int i = 0; i < (1 << 12); ++i) last = cluster.Attach(1);
  EXPECT_EQ(cluster.StatusOf(last).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(cluster.IsDone(first));
  cluster.Start();
  EXPECT_TRUE(cluster.StatusOf(first).ok());
}

TEST_F(NodeCoreFailureTest, AnotherNodeIdAfterAReconnectEndsTheJob) {
  cluster_.InitEverywhere({1, 2, 3});
  cluster_.Inject(1, kSchedulerConnection, JoinAccepted{Term(8), NodeId(2), Config(), StartId(2), false});
  EXPECT_THAT(MessageOf(cluster_.Push(1, 0, kKey, {1, 2, 3})), HasSubstr("lost its records"));
}

// A scheduler without records begins with the first term again, or has begun so often that its term is higher.
TEST_F(NodeCoreFailureTest, ASchedulerThatLostItsRecordsIsNotTakenForTheOldOne) {
  for (const uint64_t term : {1, 7, 8}) {
    TestCluster cluster(Config(), TestPlan::Chain(2));
    cluster.Start();
    cluster.InitEverywhere({1, 2, 3});
    const RequestId push = cluster.Push(1, 0, kKey, {1, 2, 3});
    cluster.scheduler().term = Term(term);
    cluster.scheduler().start = StartId(2);
    cluster.scheduler().remembers = false;
    cluster.BreakSchedulerConnection(1);
    cluster.Run();
    EXPECT_EQ(cluster.StatusOf(push).code(), absl::StatusCode::kFailedPrecondition) << term;
    EXPECT_THAT(std::string(cluster.StatusOf(push).message()),
                HasSubstr("the scheduler at tcp://10.0.0.99:7700 lost its records; "));
    // It does not count this start of the node as alive.
    const size_t before = cluster.scheduler().Said<Heartbeat>(1).size();
    cluster.Advance(absl::Seconds(3));
    EXPECT_EQ(cluster.scheduler().Said<Heartbeat>(1).size(), before);
  }
}

TEST_F(NodeCoreFailureTest, ASchedulerThatComesBackWithItsRecordsGoesOn) {
  cluster_.InitEverywhere({1, 2, 3});
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2, 3});
  cluster_.BreakSchedulerConnection(1);
  cluster_.Run();
  cluster_.scheduler().term = Term(8);
  cluster_.scheduler().start = StartId(2);
  for (uint32_t node : {1, 2}) cluster_.BreakSchedulerConnection(node);
  cluster_.Run();
  cluster_.PushOnly(2, 0, kKey, {1, 2, 3});
  EXPECT_THAT(cluster_.Result(push), ElementsAre(2, 4, 6));
}

TEST_F(NodeCoreFailureTest, TheLogCountsNodesBeforeTheJobHasStarted) {
  TestCluster cluster(Config(), TestPlan::Chain(2));
  cluster.scheduler().silent = true;
  cluster.Start();
  cluster.Inject(1, kSchedulerConnection, JoinAccepted{Term(7), NodeId(1), Config(), StartId(1), true});
  cluster.Inject(1, kSchedulerConnection, MembershipUpdate{Term(7), Epoch(0), 1, 2, false, {"n2"}});
  cluster.Inject(1, kSchedulerConnection,
                 MembershipUpdate{Term(7), Epoch(0), 2, 1, false, {}});  // more than it begins with
  std::vector<std::string> counted;
  for (const LogLine& line : cluster.logs()) {
    if (line.text.starts_with("epoch 0: ")) counted.push_back(line.text);
  }
  EXPECT_THAT(counted, ElementsAre("epoch 0: 1 of 2 nodes, waiting for n2", "epoch 0: 2 nodes"));
}

TEST_F(NodeCoreFailureTest, BeforeTheJobHasStartedASchedulerWithoutRecordsIsAsGood) {
  TestCluster cluster(Config(), TestPlan::Chain(2));
  cluster.scheduler().silent = true;
  cluster.Start();
  const MembershipUpdate waiting{Term(7), Epoch(0), 1, 2, false, {"n2"}};
  cluster.Inject(1, kSchedulerConnection, JoinAccepted{Term(7), NodeId(1), Config(), StartId(1), true});
  cluster.Inject(1, kSchedulerConnection, waiting);
  cluster.scheduler().silent = false;
  cluster.scheduler().term = Term(1);
  cluster.scheduler().start = StartId(2);
  cluster.scheduler().remembers = false;
  for (uint32_t node : {1, 2}) cluster.BreakSchedulerConnection(node);
  cluster.Run();
  cluster.InitEverywhere({1, 2, 3});
  const RequestId push = cluster.Push(1, 0, kKey, {1, 2, 3});
  cluster.PushOnly(2, 0, kKey, {1, 2, 3});
  EXPECT_THAT(cluster.Result(push), ElementsAre(2, 4, 6));
}

TEST_F(NodeCoreFailureTest, MoreBindingsOfAKeyThanTheLimitAreRejected) {
  cluster_.InitEverywhere({1, 2, 3});
  cluster_.Advance(absl::Seconds(1));  // until round 0 is closed everywhere
  const PolicyVersion policy = cluster_.scheduler().version;
  PolicyAnswer answer;
  answer.term = Term(7);
  answer.epoch = Epoch(1);
  for (uint64_t i = 0; i <= PolicyTable::kMostBindingsPerKey; ++i) {
    answer.bindings.push_back({kKey, Round(100 + i), Round(100 + i), policy, Attempt(0)});
  }
  cluster_.Inject(1, kSchedulerConnection, std::move(answer));
  cluster_.Advance(absl::Seconds(1));
  // Round 1 has a place, too.
  EXPECT_EQ(cluster_.Rejected(1), 2u);
}

TEST_F(NodeCoreFailureTest, ALowerTermIsRefused) {
  cluster_.InitEverywhere({1, 2, 3});
  cluster_.Inject(1, kSchedulerConnection, JobFailed{Term(6), absl::StatusCode::kUnavailable, "long ago"});
  const RequestId first = cluster_.Push(1, 0, kKey, {1, 2, 3});
  cluster_.Push(2, 0, kKey, {1, 2, 3});
  EXPECT_THAT(cluster_.Result(first), ElementsAre(2, 4, 6));
  cluster_.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster_.Rejected(1), 1u);
}

}  // namespace
}  // namespace banyan
