#include "scheduler/epochs/epoch_changer.h"

#include <algorithm>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const NodeId kThird(3);

// A job of three nodes that runs. Heartbeats come every 100 ms.
class EpochChangerTest : public testing::Test {
 protected:
  explicit EpochChangerTest(const std::string& more = "") : mesh_(3, more) {
    EXPECT_TRUE(policies_.Configure().ok());
    mesh_.JoinAll();
    mesh_.job.BeginPlanning();
    policies_.PlanForStart({NodeId(1), NodeId(2), kThird});
    std::optional<PlanDecision> decision = Compute();
    EXPECT_TRUE(decision.has_value());
    changer_.Start(*std::move(decision));
    mesh_.Forget();
  }

  // Runs the computation that was started, if one was.
  std::optional<PlanDecision> Compute() {
    std::optional<StartComputation> started = mesh_.TakeComputation();
    if (!started.has_value()) return std::nullopt;
    started->computation->Run();
    ComputationFinished finished{started->id, std::move(started->computation)};
    return policies_.OnComputation(finished);
  }
  // Lets time pass in which these nodes are heard, and plans are made at once.
  void Advance(absl::Duration duration, const std::vector<int>& alive) {
    for (const Timestamp end = mesh_.context.now + duration; mesh_.context.now < end;) {
      mesh_.context.now = mesh_.context.now + absl::Milliseconds(100);
      for (const int node : alive) mesh_.members.Hear(NodeId(node));
      changer_.OnDeadline();
      if (std::optional<PlanDecision> decision = Compute(); decision.has_value()) {
        changer_.OnPlan(*std::move(decision));
      }
      // Reading what was sent, Compute has made all records durable.
      changer_.OnDurable(absl::ZeroDuration());
    }
  }
  void Report(const std::vector<int>& nodes) {
    for (const int node : nodes) changer_.OnEpochReport(NodeId(node), {mesh_.job.epoch(), {}});
  }
  void Disconnect(NodeId node) {
    mesh_.members.Disconnect(MeshConnection(static_cast<int>(node.value())));
    changer_.OnDisconnected(node);
  }

  MeshJob mesh_;
  NodeReports reports_;
  KeyRegistrar keys_{1000, &mesh_.job, &mesh_.members, &mesh_.context};
  JobRounds rounds_{&keys_.table(), {"n1", "n2", "n3"}, absl::ZeroDuration(), 1};
  RoundAnnouncer announcer_{&mesh_.job, &mesh_.members, &mesh_.context};
  JobBarriers barriers_{&mesh_.job, &mesh_.members, &mesh_.context, [](NodeId) { return false; }};
  PolicyControl policies_{&mesh_.overlay, &mesh_.job, &keys_, &rounds_, &mesh_.members, &mesh_.context};
  JobQuorum quorum_{&mesh_.overlay, &mesh_.job, &mesh_.members, &reports_, &keys_.table()};
  TransferControl transfers_{
      {&mesh_.job, &mesh_.members, &policies_.policies(), &keys_.table(), &rounds_, false, &mesh_.context},
      [](const std::string&) {}};
  TraceControl traces_{&mesh_.job, &mesh_.members, 1, &mesh_.context};
  EpochConductor conductor_{{&mesh_.job, &mesh_.members, &reports_, &keys_, &rounds_, &announcer_, &barriers_, &quorum_,
                             &policies_, &transfers_, &traces_, &mesh_.context}};
  EpochChanger changer_{{&mesh_.overlay, &mesh_.job, &reports_, &keys_.table(), &rounds_, &mesh_.members, &policies_,
                         &conductor_, &mesh_.context}};
};

TEST_F(EpochChangerTest, GoesOnWithoutAMemberThatIsGoneWhenTheOthersHaveReported) {
  const Epoch first = mesh_.job.epoch();
  Disconnect(kThird);
  Advance(absl::Milliseconds(500), {1, 2});
  EXPECT_FALSE(changer_.is_changing()) << "it may join again";
  Advance(absl::Seconds(3), {1, 2});
  EXPECT_TRUE(changer_.is_changing());
  EXPECT_EQ(mesh_.job.epoch(), first.Next());
  EXPECT_THAT(mesh_.Sent<EpochBegin>(1), SizeIs(1));
  EXPECT_THAT(changer_.reason(), HasSubstr("n3"));
  EXPECT_THAT(changer_.WaitsFor(), HasSubstr("n1"));
  Report({1});
  EXPECT_THAT(mesh_.Sent<EpochPlan>(1), IsEmpty());
  Report({2});
  EXPECT_FALSE(changer_.is_changing());
  for (const int node : {1, 2}) {
    ASSERT_THAT(mesh_.Sent<EpochPlan>(node), SizeIs(1));
    EXPECT_EQ(mesh_.Sent<EpochPlan>(node)[0].epoch, first.Next());
  }
  EXPECT_EQ(changer_.history().count(), 1u);
  EXPECT_EQ(changer_.WaitsFor(), "");
}

TEST_F(EpochChangerTest, AMemberThatJoinsAgainInTimeStays) {
  Disconnect(kThird);
  mesh_.members.Join(MeshConnection(3), MeshJoin(3));
  Advance(absl::Seconds(4), {1, 2, 3});
  EXPECT_FALSE(changer_.is_changing());
}

TEST_F(EpochChangerTest, WhenAllFallSilentTogetherTheyMayAllComeBack) {
  for (const int node : {1, 2}) Disconnect(NodeId(static_cast<uint32_t>(node)));
  Advance(absl::Seconds(20), {});
  EXPECT_FALSE(changer_.is_changing());
  EXPECT_EQ(changer_.WaitsFor(), "the scheduler hears none of its 3 members: is its own network down?");
  mesh_.members.Join(MeshConnection(1), MeshJoin(1));
  Advance(absl::Seconds(3), {1});
  EXPECT_EQ(changer_.WaitsFor(), "");
  mesh_.members.Join(MeshConnection(2), MeshJoin(2));
  Advance(absl::Seconds(10), {1, 2, 3});
  EXPECT_FALSE(changer_.is_changing());
}

TEST_F(EpochChangerTest, WhenAllHaveFallenSilentWhoDoesNotComeBackFallsOut) {
  Advance(absl::Seconds(20), {});
  EXPECT_FALSE(changer_.is_changing());
  Advance(absl::Seconds(10), {1, 2});
  EXPECT_TRUE(changer_.is_changing());
  EXPECT_THAT(changer_.reason(), HasSubstr("nothing heard from n3"));
}

TEST_F(EpochChangerTest, AChangeThatIsCutOffWaitsForReports) {
  const Epoch first = mesh_.job.epoch();
  Disconnect(kThird);
  Advance(absl::Seconds(3), {1, 2});
  Advance(absl::Seconds(20), {});
  EXPECT_EQ(mesh_.job.epoch(), first.Next());
  Advance(absl::Seconds(1), {1, 2});
  Report({1, 2});
  EXPECT_FALSE(changer_.is_changing());
  EXPECT_EQ(mesh_.job.epoch(), first.Next());
}

TEST_F(EpochChangerTest, OfTwoStartsThatWaitTheOneThatIsAliveStays) {
  Disconnect(kThird);
  for (const int start : {2, 3}) {
    changer_.OnJoin(mesh_.members.Join(MeshConnection(10 + start), MeshJoin(3, static_cast<uint64_t>(start))));
  }
  Advance(absl::Milliseconds(200), {1, 2});
  EXPECT_EQ(mesh_.members.table().Find(kThird).incarnation, Incarnation(3)) << "the newest";
  // The first one has only been late.
  Advance(absl::Seconds(4), {1, 2});
  EXPECT_EQ(mesh_.members.table().Find(kThird).incarnation, Incarnation(2));
}

TEST_F(EpochChangerTest, WhoDoesNotReportFallsOutByOneMoreEpoch) {
  const Epoch first = mesh_.job.epoch();
  Disconnect(kThird);
  Advance(absl::Seconds(3), {1, 2});
  Report({1});
  // It is heard, and yet says nothing of its rounds.
  Advance(absl::Seconds(7), {1, 2});
  EXPECT_EQ(mesh_.job.epoch(), first.Next().Next());
  EXPECT_THAT(changer_.reason(), HasSubstr("n2 has not said what it holds"));
  Report({1});
  EXPECT_THAT(mesh_.Sent<EpochPlan>(1), SizeIs(1));
}

TEST_F(EpochChangerTest, TheSameMembersMayBeginAnEpoch) {
  changer_.Change("a transfer is over");
  Advance(absl::Seconds(1), {1, 2, 3});
  EXPECT_EQ(changer_.reason(), "a transfer is over");
  Report({1, 2, 3});
  EXPECT_FALSE(changer_.is_changing());
  EXPECT_THAT(mesh_.Sent<EpochPlan>(3), SizeIs(1));
}

TEST_F(EpochChangerTest, OneThatJoinsAgainHearsWhereTheEpochStands) {
  changer_.SendState(kThird);
  EXPECT_THAT(mesh_.Sent<EpochPlan>(3), SizeIs(1));
  mesh_.Forget();
  changer_.Change("a transfer is over");
  Advance(absl::Seconds(1), {1, 2, 3});
  mesh_.Forget();
  changer_.SendState(kThird);
  EXPECT_THAT(mesh_.Sent<EpochBegin>(3), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<EpochPlan>(3), IsEmpty());
}

class FewMembersTest : public EpochChangerTest {
 protected:
  FewMembersTest() : EpochChangerTest("membership: {least: 3}\n") {}
};

TEST_F(FewMembersTest, WithFewerThanTheLeastMembersTrainingWaits) {
  Disconnect(kThird);
  Advance(absl::Seconds(3), {1, 2});
  Report({1, 2});
  Advance(absl::Seconds(20), {1, 2});
  EXPECT_TRUE(changer_.is_changing());
  EXPECT_THAT(mesh_.Sent<EpochPlan>(1), IsEmpty());
  EXPECT_TRUE(mesh_.HasLog("the job waits: "));
  EXPECT_FALSE(changer_.end().has_value());
}

// Members have trained a key.
class OptimizerChangeTest : public EpochChangerTest {
 protected:
  OptimizerChangeTest() : EpochChangerTest("aggregation: {op: adam}\n") {
    keys_.Register(NodeId(1), {{"w", 10}}, rounds_);
    rounds_.Request(mesh_.context.now, NodeId(1), PolicyRequest{{{KeyId(1), Round(0)}}});
    changer_.Change("a test");
    Advance(absl::Seconds(1), {1, 2, 3});
  }
  void ReportLack(const std::vector<int>& nodes) {
    for (const int node : nodes) changer_.OnEpochReport(NodeId(node), {mesh_.job.epoch(), {}, true});
  }
};

TEST_F(OptimizerChangeTest, OneMemberWithTheParametersIsEnough) {
  ReportLack({1, 2});
  Report({3});
  EXPECT_FALSE(changer_.end().has_value());
  EXPECT_THAT(mesh_.Sent<EpochPlan>(1), SizeIs(1));
}

TEST_F(OptimizerChangeTest, WithoutTheParametersNobodyGoesOn) {
  ReportLack({1, 2, 3});
  ASSERT_TRUE(changer_.end().has_value());
  EXPECT_EQ(changer_.end()->code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(changer_.end()->message()), HasSubstr("all members are gone that had the parameters"));
  EXPECT_THAT(mesh_.Sent<EpochPlan>(1), IsEmpty());
}

TEST_F(OptimizerChangeTest, ParametersThatAreGoneWithThoseWhoHaveFinishedAreNoFailure) {
  mesh_.members.Leave(kThird, false);
  ReportLack({1, 2, 3});
  EXPECT_EQ(changer_.end(), absl::OkStatus());
}

}  // namespace
}  // namespace banyan
