#include "node/workers/local_workers.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr KeyId kKey(1);

// One node with two workers.
class LocalWorkersTest : public ::testing::Test {
 protected:
  LocalWorkersTest() : cluster_(Config(), TestPlan::Star(1)) {
    cluster_.Start();
    for (uint32_t worker : {0, 1}) {
      const RequestId attach = cluster_.Attach(1, worker);
      EXPECT_TRUE(cluster_.StatusOf(attach).ok());
      EXPECT_EQ(cluster_.Completion(attach).round, Round(JobConfig().rounds_in_flight));
    }
  }
  static JobConfig Config() {
    JobConfig config;
    config.job = "job";
    config.aggregation.op = AggregationOp::kSum;
    config.workers = 2;
    return config;
  }
  void InitBoth() {
    for (uint32_t worker : {0, 1}) cluster_.Init(1, worker, "w", {1.0f + worker, 2});
  }
  void FailJob() {
    cluster_.scheduler().SayToAll(JobFailed{Term(7), absl::StatusCode::kUnavailable, "n9 is gone"});
    cluster_.Run();
  }
  absl::StatusCode CodeOf(RequestId request) { return cluster_.StatusOf(request).code(); }
  std::string MessageOf(RequestId request) { return std::string(cluster_.StatusOf(request).message()); }

  TestCluster cluster_;
};

TEST_F(LocalWorkersTest, CountsWhatItsWorkersShareWithIt) {
  InitBoth();
  cluster_.Advance(absl::Seconds(2));
  // Two workers, two elements, two gradient slots and one of results.
  EXPECT_EQ(cluster_.Memory(1, "worker segments"), 2 * 2 * 3 * sizeof(float));
}

TEST_F(LocalWorkersTest, AWorkerAttachesOnce) {
  EXPECT_EQ(CodeOf(cluster_.Attach(1, 0)), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(CodeOf(cluster_.Attach(1, 2)), absl::StatusCode::kInvalidArgument);
  cluster_.Detach(1, 0, true);
  EXPECT_EQ(CodeOf(cluster_.Attach(1, 0)), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf(cluster_.Push(1, 0, kKey, {1, 2})), absl::StatusCode::kFailedPrecondition);
}

TEST_F(LocalWorkersTest, TheLowestWorkersValuesCount) {
  const RequestId second = cluster_.Init(1, 1, "w", {5, 6});
  EXPECT_FALSE(cluster_.IsDone(second));
  const RequestId first = cluster_.Init(1, 0, "w", {1, 2});
  EXPECT_THAT(cluster_.Result(first), ElementsAre(1, 2));
  EXPECT_THAT(cluster_.Result(second), ElementsAre(1, 2));
}

TEST_F(LocalWorkersTest, RefusesABadInit) {
  EXPECT_EQ(CodeOf(cluster_.Init(1, 0, "", {1})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(cluster_.Init(1, 0, std::string(257, 'x'), {1})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(cluster_.Init(1, 0, "w", {})), absl::StatusCode::kInvalidArgument);
  cluster_.Init(1, 0, "w", {1, 2});
  EXPECT_EQ(CodeOf(cluster_.Init(1, 0, "w", {1, 2})), absl::StatusCode::kAlreadyExists);
}

TEST_F(LocalWorkersTest, AKeyThatTheRuntimeHasRefusedIsReported) {
  const RequestId init = cluster_.RefusedInit(1, 1, "w", absl::ResourceExhaustedError("it does not fit"));
  EXPECT_EQ(CodeOf(init), absl::StatusCode::kResourceExhausted);
  cluster_.Advance(absl::Seconds(2));
  ASSERT_THAT(cluster_.scheduler().Said<NodeReport>(1).back().refusals, ::testing::SizeIs(1));
  EXPECT_EQ(cluster_.scheduler().Said<NodeReport>(1).back().refusals[0],
            (NodeReport::Refusal{"w", WorkerId(1), "it does not fit"}));
  InitBoth();
  cluster_.Advance(absl::Seconds(2));
  EXPECT_THAT(cluster_.scheduler().Said<NodeReport>(1).back().refusals, ::testing::IsEmpty());
}

TEST_F(LocalWorkersTest, WorkersThatGiveAKeyDifferentShapesBothHearOfIt) {
  const RequestId first = cluster_.Init(1, 0, "w", {1, 2});
  const RequestId wrong = cluster_.Init(1, 1, "w", {1, 2, 3});
  for (RequestId request : {first, wrong}) {
    EXPECT_EQ(CodeOf(request), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(MessageOf(request), HasSubstr("key 'w' has 2 elements, but worker 1 initialises it with 3"));
  }
  // The scheduler tells the others.
  EXPECT_EQ(cluster_.scheduler().Said<RegisterKeys>(1).back(), (RegisterKeys{{{"w", 3}}}));
}

TEST_F(LocalWorkersTest, WhoWaitsForAnInitHearsOfOneWithoutValues) {
  const RequestId first = cluster_.Init(1, 0, "w", {1, 2});
  const RequestId empty = cluster_.Init(1, 1, "w", {});
  for (RequestId request : {first, empty}) EXPECT_EQ(CodeOf(request), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cluster_.scheduler().Said<RegisterKeys>(1).back(), (RegisterKeys{{{"w", 0}}}));
  // A key that trains is not disturbed.
  InitBoth();
  const size_t said = cluster_.scheduler().Said<RegisterKeys>(1).size();
  EXPECT_EQ(CodeOf(cluster_.Init(1, 1, "w", {})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cluster_.scheduler().Said<RegisterKeys>(1).size(), said);
}

TEST_F(LocalWorkersTest, AnInitEndsWhenAnotherNodeGivesTheKeyAnotherShape) {
  cluster_.scheduler().hold_closed = true;
  cluster_.hold_computations = {1};
  cluster_.scheduler().hold_policies = {1};
  const RequestId first = cluster_.Init(1, 0, "w", {1, 2});
  const RequestId second = cluster_.Init(1, 1, "w", {1, 2});
  EXPECT_FALSE(cluster_.IsDone(first));
  cluster_.Inject(1, kSchedulerConnection, KeyRefused{Term(7), "w", "n2 gives it 3 elements, n1 gave it 2"});
  for (RequestId request : {first, second}) {
    EXPECT_EQ(CodeOf(request), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(MessageOf(request), HasSubstr("n2 gives it 3 elements"));
  }
  // They may try again, and wait for n2.
  const RequestId again = cluster_.Init(1, 0, "w", {1, 2});
  EXPECT_FALSE(cluster_.IsDone(again));
  cluster_.scheduler().hold_policies.clear();
  cluster_.scheduler().ReleasePolicies();
  cluster_.hold_computations.clear();
  cluster_.ReleaseHeld();
  cluster_.Run();
  EXPECT_THAT(cluster_.Result(again), ElementsAre(1, 2));
}

TEST_F(LocalWorkersTest, AKeyThatTheSchedulerRefusesMayBeTriedAgain) {
  cluster_.scheduler().silent = true;
  const RequestId request = cluster_.Init(1, 0, "w", {1, 2});
  cluster_.Inject(1, kSchedulerConnection, KeyRefused{Term(7), "w", "another size"});
  EXPECT_THAT(MessageOf(request), HasSubstr("another size"));
  cluster_.scheduler().silent = false;
  InitBoth();
  EXPECT_TRUE(cluster_.StatusOf(cluster_.PushOnly(1, 0, kKey, {1, 2})).ok());
}

TEST_F(LocalWorkersTest, PushBeforeInit) {
  for (RequestId request : {cluster_.Push(1, 0, kKey, {1, 2}), cluster_.Pull(1, 0, kKey)}) {
    EXPECT_EQ(CodeOf(request), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(MessageOf(request), HasSubstr("call Init first"));
  }
}

TEST_F(LocalWorkersTest, RefusesAWrongShape) {
  InitBoth();
  const RequestId request = cluster_.Push(1, 1, kKey, {1, 2, 3});
  EXPECT_EQ(CodeOf(request), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(request), HasSubstr("key 'w' has 2 float32 elements, but worker 1 gave 3"));
}

TEST_F(LocalWorkersTest, WeightsAreOfAKnownKeyAndItsShape) {
  const RequestId early = cluster_.RegisterWeights(1, 0, kKey, {1, 2});
  EXPECT_EQ(CodeOf(early), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(MessageOf(early), HasSubstr("key 1 was not initialised here: call Init first"));
  InitBoth();
  EXPECT_TRUE(cluster_.StatusOf(cluster_.RegisterWeights(1, 1, kKey, {1, 2})).ok());
  const RequestId wrong = cluster_.RegisterWeights(1, 1, kKey, {1, 2, 3});
  EXPECT_EQ(CodeOf(wrong), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(wrong), HasSubstr("key 'w' has 2 float32 elements, but worker 1 gave 3"));
  EXPECT_EQ(CodeOf(cluster_.RegisterWeights(1, 1, KeyId(99), {1, 2})), absl::StatusCode::kFailedPrecondition);
  // A round is not begun by them.
  EXPECT_EQ(cluster_.Completion(cluster_.Pull(1, 1, kKey)).round, Round(0));
}

TEST_F(LocalWorkersTest, AfterTheEndOfTheJobWeightsAreRefused) {
  InitBoth();
  FailJob();
  const RequestId late = cluster_.RegisterWeights(1, 0, kKey, {1, 2});
  EXPECT_EQ(CodeOf(late), absl::StatusCode::kUnavailable);
  EXPECT_THAT(MessageOf(late), HasSubstr("weights of key 'w': "));
}

TEST_F(LocalWorkersTest, WorkersAreSummedFirst) {
  InitBoth();
  const RequestId first = cluster_.Push(1, 0, kKey, {1, 2});
  EXPECT_FALSE(cluster_.IsDone(first));
  const RequestId second = cluster_.Push(1, 1, kKey, {10, 20});
  EXPECT_THAT(cluster_.Result(first), ElementsAre(11, 22));
  EXPECT_THAT(cluster_.Result(second), ElementsAre(11, 22));
}

TEST_F(LocalWorkersTest, PullsMayComeEarlyOrLate) {
  InitBoth();
  EXPECT_THAT(cluster_.Result(cluster_.Pull(1, 0, kKey)), ElementsAre(1, 2));
  EXPECT_TRUE(cluster_.StatusOf(cluster_.PushOnly(1, 0, kKey, {1, 2})).ok());
  const RequestId early = cluster_.Pull(1, 0, kKey);
  EXPECT_FALSE(cluster_.IsDone(early));
  EXPECT_TRUE(cluster_.StatusOf(cluster_.PushOnly(1, 1, kKey, {10, 20})).ok());
  EXPECT_THAT(cluster_.Result(early), ElementsAre(11, 22));
  // Worker 0 is a round ahead; its next round must not take worker 1's result away.
  cluster_.PushOnly(1, 0, kKey, {1, 1});
  const RequestId late = cluster_.Pull(1, 1, kKey);
  EXPECT_EQ(cluster_.Completion(late).round, Round(1));
  EXPECT_THAT(cluster_.Result(late), ElementsAre(11, 22));
}

TEST_F(LocalWorkersTest, TellsOfARoundWhoseResultNobodyAskedFor) {
  InitBoth();
  cluster_.PushOnly(1, 0, kKey, {1, 2});
  cluster_.PushOnly(1, 1, kKey, {10, 20});
  ASSERT_EQ(cluster_.ToldComplete(1).size(), 2u);
  for (uint32_t worker : {0, 1}) {
    EXPECT_EQ(cluster_.ToldComplete(1)[worker].worker, WorkerId(worker));
    EXPECT_EQ(cluster_.ToldComplete(1)[worker].key, kKey);
    EXPECT_EQ(cluster_.ToldComplete(1)[worker].round, Round(1));
  }
  // The result is still there for who asks late.
  EXPECT_THAT(cluster_.Result(cluster_.Pull(1, 0, kKey)), ElementsAre(11, 22));
}

TEST_F(LocalWorkersTest, SaysNothingMoreOfARoundThatItAnswersFor) {
  InitBoth();
  cluster_.Push(1, 0, kKey, {1, 2});
  cluster_.PushOnly(1, 1, kKey, {10, 20});
  ASSERT_EQ(cluster_.ToldComplete(1).size(), 1u);
  EXPECT_EQ(cluster_.ToldComplete(1)[0].worker, WorkerId(1));
  cluster_.PushOnly(1, 0, kKey, {1, 2});
  cluster_.Pull(1, 0, kKey);
  cluster_.Push(1, 1, kKey, {10, 20});
  for (uint32_t worker : {0, 1}) cluster_.Broadcast(1, worker, kKey, {7, 8});
  EXPECT_EQ(cluster_.ToldComplete(1).size(), 1u);
}

TEST_F(LocalWorkersTest, BroadcastTakesTheLowestWorkersValues) {
  InitBoth();
  const RequestId second = cluster_.Broadcast(1, 1, kKey, {7, 8});
  const RequestId first = cluster_.Broadcast(1, 0, kKey, {3, 4});
  EXPECT_THAT(cluster_.Result(first), ElementsAre(3, 4));
  EXPECT_THAT(cluster_.Result(second), ElementsAre(3, 4));
}

TEST_F(LocalWorkersTest, OneWorkerPushesWhileAnotherBroadcasts) {
  InitBoth();
  cluster_.Push(1, 0, kKey, {1, 2});
  EXPECT_THAT(MessageOf(cluster_.Broadcast(1, 1, kKey, {1, 2})), HasSubstr("key 'w' round 1"));
  EXPECT_TRUE(cluster_.StatusOf(cluster_.Push(1, 1, kKey, {1, 2})).ok());
}

TEST_F(LocalWorkersTest, RefusesMoreRoundsThanMayBeOpen) {
  InitBoth();
  for (int round = 1; round <= 2; ++round) EXPECT_TRUE(cluster_.StatusOf(cluster_.PushOnly(1, 0, kKey, {1, 2})).ok());
  const RequestId request = cluster_.PushOnly(1, 0, kKey, {1, 2});
  EXPECT_EQ(CodeOf(request), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(MessageOf(request), HasSubstr("key 'w' round 3"));
  cluster_.PushOnly(1, 1, kKey, {1, 2});
  EXPECT_TRUE(cluster_.StatusOf(cluster_.PushOnly(1, 0, kKey, {1, 2})).ok());
}

TEST_F(LocalWorkersTest, ABarrierWaitsForAll) {
  const RequestId first = cluster_.Barrier(1, 0);
  EXPECT_FALSE(cluster_.IsDone(first));
  const RequestId second = cluster_.Barrier(1, 1);
  EXPECT_TRUE(cluster_.StatusOf(first).ok());
  EXPECT_TRUE(cluster_.StatusOf(second).ok());
}

TEST_F(LocalWorkersTest, TheEndOfTheJobAnswersAllAndSaysWhatTheyWereAbout) {
  InitBoth();
  const RequestId waiting = cluster_.Push(1, 0, kKey, {1, 2});
  FailJob();
  EXPECT_EQ(CodeOf(waiting), absl::StatusCode::kUnavailable);
  EXPECT_THAT(MessageOf(waiting), AllOf(HasSubstr("key 'w' round 1"), HasSubstr("n9 is gone")));
  EXPECT_EQ(cluster_.Completion(waiting).key, kKey);
  EXPECT_EQ(cluster_.Completion(waiting).round, Round(1));
  ASSERT_EQ(cluster_.job_ends().count(1), 1u);
  EXPECT_EQ(cluster_.job_ends().at(1), absl::UnavailableError("n9 is gone"));
  // Later calls say what they were about as well.
  EXPECT_THAT(MessageOf(cluster_.Push(1, 0, kKey, {1, 2})), HasSubstr("key 'w' round 2"));
  EXPECT_THAT(MessageOf(cluster_.Pull(1, 0, kKey)), HasSubstr("key 'w' round 1"));
  EXPECT_THAT(MessageOf(cluster_.Push(1, 0, KeyId(9), {1, 2})), HasSubstr("key 9"));
  EXPECT_THAT(MessageOf(cluster_.Init(1, 0, "x", {1, 2})), HasSubstr("init of key 'x'"));
  EXPECT_THAT(MessageOf(cluster_.Barrier(1, 0)), HasSubstr("barrier"));
}

TEST_F(LocalWorkersTest, ADeadWorkerTakesItsShareOutOfTheSum) {
  InitBoth();
  const RequestId lost = cluster_.Push(1, 1, kKey, {10, 20});
  cluster_.Detach(1, 1, false);
  EXPECT_EQ(CodeOf(lost), absl::StatusCode::kUnavailable);
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2});
  EXPECT_THAT(cluster_.Result(push), ElementsAre(1, 2));
  EXPECT_EQ(cluster_.Completion(push).round, Round(1));
  EXPECT_TRUE(cluster_.scheduler().Said<WorkerLost>(1).empty()) << "another one is there";
}

TEST_F(LocalWorkersTest, ARoundThatWaitsForADeadWorkerGoesOnWithoutIt) {
  InitBoth();
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2});
  const RequestId barrier = cluster_.Barrier(1, 0);
  const RequestId init = cluster_.Init(1, 0, "x", {5});
  EXPECT_FALSE(cluster_.IsDone(push));
  cluster_.Detach(1, 1, false);
  EXPECT_THAT(cluster_.Result(push), ElementsAre(1, 2));
  EXPECT_TRUE(cluster_.StatusOf(barrier).ok());
  EXPECT_THAT(cluster_.Result(init), ElementsAre(5));
}

TEST_F(LocalWorkersTest, AnotherWorkerMayAttachWithItsNumberAndBeginsWithTheNextRound) {
  InitBoth();
  cluster_.Detach(1, 1, false);
  cluster_.Push(1, 0, kKey, {1, 2});
  EXPECT_TRUE(cluster_.StatusOf(cluster_.Attach(1, 1)).ok());
  EXPECT_EQ(CodeOf(cluster_.Push(1, 1, kKey, {10, 20})), absl::StatusCode::kFailedPrecondition);
  // It has not called Init: nobody waits for it.
  EXPECT_THAT(cluster_.Result(cluster_.Push(1, 0, kKey, {2, 3})), ElementsAre(2, 3));
  const RequestId init = cluster_.Init(1, 1, "w", {9, 9});
  ASSERT_TRUE(cluster_.StatusOf(init).ok());
  EXPECT_EQ(cluster_.Completion(init).key, kKey);
  EXPECT_EQ(cluster_.Completion(init).round, Round(2));
  const RequestId first = cluster_.Push(1, 0, kKey, {1, 2});
  EXPECT_FALSE(cluster_.IsDone(first));
  const RequestId second = cluster_.Push(1, 1, kKey, {10, 20});
  EXPECT_EQ(cluster_.Completion(second).round, Round(3));
  EXPECT_THAT(cluster_.Result(first), ElementsAre(11, 22));
}

TEST_F(LocalWorkersTest, WhoComesLateKeepsItsOwnValuesAndTakesNoPartWithoutTheState) {
  InitBoth();
  for (uint32_t worker : {0, 1}) cluster_.Push(1, worker, kKey, {1, 2});
  cluster_.Detach(1, 1, false);
  cluster_.Attach(1, 1, /*needs_state=*/true);
  const RequestId init = cluster_.Init(1, 1, "w", {9, 8});
  ASSERT_TRUE(cluster_.StatusOf(init).ok());
  EXPECT_THAT(cluster_.Result(init), ElementsAre(9, 8)) << "nobody has the first values any more";
  const std::vector<RequestId> calls = {cluster_.Push(1, 1, kKey, {1, 2}), cluster_.Pull(1, 1, kKey),
                                        cluster_.Broadcast(1, 1, kKey, {1, 2}), cluster_.Flush(1, 1, kKey, {1, 2})};
  for (const RequestId request : calls) {
    EXPECT_EQ(CodeOf(request), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(MessageOf(request), HasSubstr("worker 1 does not have the training state, which is past round 1 of "
                                              "key 'w': get it from the others first"));
  }
  EXPECT_THAT(cluster_.Result(cluster_.Push(1, 0, kKey, {3, 4})), ElementsAre(3, 4)) << "nobody waits for it";
  // It says that it needs none.
  cluster_.Step(1, StateCalled{WorkerShareState{RequestId(1 << 20), WorkerId(1), {}}});
  cluster_.Run();
  EXPECT_TRUE(cluster_.StatusOf(RequestId(1 << 20)).ok());
  const RequestId first = cluster_.Push(1, 0, kKey, {1, 2});
  EXPECT_FALSE(cluster_.IsDone(first));
  cluster_.Push(1, 1, kKey, {10, 20});
  EXPECT_THAT(cluster_.Result(first), ElementsAre(11, 22));
}

TEST_F(LocalWorkersTest, ANodeWhoseOnlyWorkerHasNoStateAbstains) {
  TestCluster cluster(Config(), TestPlan::Star(2));
  cluster.Start();
  for (uint32_t node : {1, 2}) {
    for (uint32_t worker : {0, 1}) cluster.Attach(node, worker);
  }
  for (uint32_t node : {1, 2}) {
    for (uint32_t worker : {0, 1}) cluster.Init(node, worker, "w", {1, 2});
  }
  for (uint32_t worker : {0, 1}) cluster.Detach(2, worker, false);
  cluster.Attach(2, 0, /*needs_state=*/true);
  const RequestId init = cluster.Init(2, 0, "w", {9, 8});
  EXPECT_THAT(cluster.Result(init), ElementsAre(9, 8));
  for (float round : {1, 2, 3}) {
    cluster.Push(1, 0, kKey, {round, 0});
    EXPECT_THAT(cluster.Result(cluster.Push(1, 1, kKey, {round, 1})), ElementsAre(2 * round, 1));
  }
}

TEST_F(LocalWorkersTest, AKeyThatOthersHaveNamedIsAskedForAsLongAsItsValuesAreNotAgreed) {
  TestCluster cluster(Config(), TestPlan::Star(2));
  cluster.Start();
  for (uint32_t node : {1, 2}) {
    for (uint32_t worker : {0, 1}) cluster.Attach(node, worker);
  }
  for (uint32_t worker : {0, 1}) cluster.Init(1, worker, "w", {1, 2});
  cluster.scheduler().silent = true;
  std::vector<RequestId> inits;
  for (uint32_t worker : {0, 1}) inits.push_back(cluster.Init(2, worker, "w", {1, 2}));
  EXPECT_EQ(cluster.scheduler().Said<RegisterKeys>(2).size(), 1u) << "another node may have given it another shape";
  cluster.Inject(2, kSchedulerConnection, KeyRefused{Term(7), "w", "n3 gives it 3 elements, n2 gives it 2"});
  for (const RequestId init : inits) {
    EXPECT_EQ(cluster.StatusOf(init).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(cluster.StatusOf(init).message()), HasSubstr("n3 gives it 3 elements"));
  }
  // Once they are agreed, nobody asks.
  cluster.scheduler().silent = false;
  for (uint32_t worker : {0, 1}) EXPECT_THAT(cluster.Result(cluster.Init(2, worker, "w", {1, 2})).size(), worker * 2);
  const size_t said = cluster.scheduler().Said<RegisterKeys>(2).size();
  cluster.Detach(2, 1, false);
  cluster.Attach(2, 1);
  EXPECT_TRUE(cluster.StatusOf(cluster.Init(2, 1, "w", {1, 2})).ok());
  EXPECT_EQ(cluster.scheduler().Said<RegisterKeys>(2).size(), said);
}

TEST_F(LocalWorkersTest, AWorkerThatComesAfterARefusalIsToldOnce) {
  cluster_.scheduler().silent = true;
  cluster_.Init(1, 0, "w", {1, 2});
  cluster_.Inject(1, kSchedulerConnection, KeyRefused{Term(7), "w", "n2 gives it 3 elements"});
  EXPECT_THAT(MessageOf(cluster_.Init(1, 1, "w", {1, 2})), HasSubstr("n2 gives it 3 elements"));
  cluster_.Advance(absl::Seconds(2));
  EXPECT_THAT(cluster_.scheduler().Said<NodeReport>(1).back().refusals, ::testing::SizeIs(2)) << "for those who wait";
  cluster_.scheduler().silent = false;
  InitBoth();
  EXPECT_TRUE(cluster_.StatusOf(cluster_.PushOnly(1, 1, kKey, {1, 2})).ok());
}

// The rounds that its predecessor left open are none of its own.
TEST_F(LocalWorkersTest, WhoAttachesAnewMayHaveAsManyRoundsOpenAsAnyOther) {
  InitBoth();
  for (int round = 1; round <= 2; ++round) cluster_.PushOnly(1, 1, kKey, {1, 2});
  cluster_.Push(1, 0, kKey, {1, 2});
  cluster_.Detach(1, 1, false);
  cluster_.Attach(1, 1);
  cluster_.Init(1, 1, "w", {9, 9});
  for (int round = 1; round <= 2; ++round) EXPECT_TRUE(cluster_.StatusOf(cluster_.PushOnly(1, 1, kKey, {1, 2})).ok());
  EXPECT_EQ(CodeOf(cluster_.PushOnly(1, 1, kKey, {1, 2})), absl::StatusCode::kResourceExhausted);
}

TEST_F(LocalWorkersTest, AKeyOfWhichTheLastWorkerDiesWaitsForNobodyWhoHasNotCalledInit) {
  for (const char* name : {"w", "x"}) {
    for (uint32_t worker : {0, 1}) cluster_.Init(1, worker, name, {1});
  }
  cluster_.Detach(1, 1, false);
  cluster_.Attach(1, 1);
  cluster_.Init(1, 1, "w", {1});
  cluster_.Detach(1, 0, false);
  EXPECT_THAT(cluster_.Result(cluster_.Push(1, 1, kKey, {7})), ElementsAre(7));
  cluster_.Advance(absl::Seconds(10));
  // It has abstained from rounds of the other key, and begins there too.
  const RequestId init = cluster_.Init(1, 1, "x", {1});
  EXPECT_GT(cluster_.Completion(init).round, Round(1));
  const RequestId push = cluster_.Push(1, 1, KeyId(2), {8});
  cluster_.Advance(absl::Seconds(10));
  EXPECT_THAT(cluster_.Result(push), ElementsAre(8));
  const std::vector<WorkerLost> said = cluster_.scheduler().Said<WorkerLost>(1);
  EXPECT_TRUE(std::none_of(said.begin(), said.end(),
                           [](const WorkerLost& lost) { return lost.reason.find("died") != std::string::npos; }));
  EXPECT_FALSE(said.empty()) << "nobody spoke for the other key meanwhile";
}

// Nobody else is there: rounds end without weight, but not as fast as they can.
TEST_F(LocalWorkersTest, WithoutAnyWorkerRoundsCrawlUntilOneAttaches) {
  InitBoth();
  cluster_.Push(1, 0, kKey, {1, 2});
  for (uint32_t worker : {0, 1}) cluster_.Detach(1, worker, false);
  ASSERT_EQ(cluster_.scheduler().Said<WorkerLost>(1).size(), 1u);
  cluster_.Advance(absl::Seconds(60));
  EXPECT_LT(cluster_.scheduler().Said<RoundsClosed>(1).back().entries.back().round, Round(12));
  EXPECT_GT(cluster_.scheduler().Said<RoundsClosed>(1).back().entries.back().round, Round(5));
  EXPECT_TRUE(cluster_.StatusOf(cluster_.Attach(1, 0)).ok());
  const RequestId init = cluster_.Init(1, 0, "w", {9, 9});
  ASSERT_TRUE(cluster_.StatusOf(init).ok());
  const RequestId push = cluster_.Push(1, 0, kKey, {3, 4});
  cluster_.Advance(absl::Seconds(8));
  EXPECT_EQ(cluster_.Completion(push).round, cluster_.Completion(init).round.Next());
  EXPECT_THAT(cluster_.Result(push), ElementsAre(3, 4));
}

TEST_F(LocalWorkersTest, AJoinThatIsSaidAgainSaysThatNoWorkerIsThereOnlyWhileThatIsSo) {
  InitBoth();
  for (uint32_t worker : {0, 1}) cluster_.Detach(1, worker, false);
  cluster_.BreakSchedulerConnection(1);
  cluster_.Run();
  EXPECT_EQ(cluster_.scheduler().Said<WorkerLost>(1).size(), 2u);
  cluster_.Attach(1, 0);
  cluster_.Init(1, 0, "w", {9, 9});
  cluster_.Advance(absl::Seconds(10));
  const size_t said = cluster_.scheduler().Said<WorkerLost>(1).size();
  cluster_.BreakSchedulerConnection(1);
  cluster_.Run();
  EXPECT_EQ(cluster_.scheduler().Said<WorkerLost>(1).size(), said);
}

TEST_F(LocalWorkersTest, AWorkerThatMayNotSpeakInAnOpenRoundIsNoSourceOfItsValues) {
  InitBoth();
  for (uint32_t worker : {0, 1}) cluster_.Detach(1, worker, false);
  ASSERT_EQ(cluster_.scheduler().Said<WorkerLost>(1).size(), 1u);
  cluster_.Attach(1, 0);
  cluster_.Init(1, 0, "w", {9, 9});
  cluster_.Advance(absl::Seconds(1));
  EXPECT_GT(cluster_.scheduler().Said<WorkerLost>(1).size(), 1u) << "it abstains from the open round";
  cluster_.Advance(absl::Seconds(9));
  const RequestId push = cluster_.Push(1, 0, kKey, {3, 4});
  EXPECT_THAT(cluster_.Result(push), ElementsAre(3, 4));
  const size_t said = cluster_.scheduler().Said<WorkerLost>(1).size();
  cluster_.Advance(absl::Seconds(9));
  EXPECT_EQ(cluster_.scheduler().Said<WorkerLost>(1).size(), said);
}

TEST_F(LocalWorkersTest, TheOthersGoOnAfterACleanGoodbye) {
  InitBoth();
  const RequestId push = cluster_.Push(1, 0, kKey, {1, 2});
  const RequestId barrier = cluster_.Barrier(1, 0);
  const RequestId init = cluster_.Init(1, 0, "x", {5});
  cluster_.PushOnly(1, 1, kKey, {10, 20});
  cluster_.PushOnly(1, 1, kKey, {30, 40});
  cluster_.Detach(1, 1, true);
  EXPECT_THAT(cluster_.Result(push), ElementsAre(11, 22));
  EXPECT_TRUE(cluster_.StatusOf(barrier).ok());
  EXPECT_THAT(cluster_.Result(init), ElementsAre(5));
  // What it had pushed before counts.
  EXPECT_THAT(cluster_.Result(cluster_.Push(1, 0, kKey, {1, 2})), ElementsAre(31, 42));
  EXPECT_THAT(cluster_.Result(cluster_.Push(1, 0, kKey, {1, 2})), ElementsAre(1, 2));
  EXPECT_EQ(cluster_.scheduler().Said<Leave>(1).size(), 0u);
  cluster_.Detach(1, 0, true);
  cluster_.Advance(absl::Seconds(1));  // until the last round is closed everywhere
  EXPECT_EQ(cluster_.scheduler().Said<Leave>(1).size(), 1u);
  EXPECT_EQ(cluster_.scheduler().Said<WorkerLost>(1).size(), 0u);
}

}  // namespace
}  // namespace banyan
