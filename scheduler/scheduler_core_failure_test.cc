// Exchanges that end a job, and messages that are refused.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ConnectionId kAnother = ConnectionId(kInboundConnection.value() + 77);
constexpr ConnectionId kOperator = ConnectionId(kInboundConnection.value() + 99);

PolicyRequest Ask(KeyId key, uint64_t round) { return PolicyRequest{{{key, Round(round)}}}; }

NodeReport ReportOfPush(KeyId key, uint64_t round) {
  NodeReport report;
  report.workers_attached = 1;
  report.progress = {{key, Round(round - 1), Round(round)}};
  return report;
}

// The one JobFailed that the node was sent.
JobFailed FailureOf(const SchedulerHarness& harness, int node) {
  const std::vector<JobFailed> failures = harness.Sent<JobFailed>(node);
  EXPECT_THAT(failures, SizeIs(1));
  return failures.empty() ? JobFailed() : failures[0];
}

bool HasErrors(const SchedulerHarness& harness) {
  return std::any_of(harness.logs().begin(), harness.logs().end(),
                     [](const LogLine& line) { return line.level == LogLevel::kError; });
}

std::string RefusalOf(const Join& join) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, join);
  EXPECT_THAT(harness.Sent<JoinAccepted>(1), IsEmpty());
  const std::vector<JoinRefused> refused = harness.Sent<JoinRefused>(1);
  return refused.size() == 1 ? refused[0].reason : "";
}

TEST(SchedulerRefusalTest, SaysWhatIsWrongWithAJoin) {
  Join join = SchedulerHarness::JoinOf(1);
  join.protocol_version = 99;
  EXPECT_THAT(RefusalOf(join), HasSubstr(absl::StrCat("protocol version ", kProtocolVersion, " expected, 99 came")));
  join = SchedulerHarness::JoinOf(1);
  join.job = "other";
  EXPECT_THAT(RefusalOf(join), HasSubstr("runs job 'test', and the node wants 'other'"));
  join = SchedulerHarness::JoinOf(1);
  join.name = "n9\n";
  EXPECT_THAT(RefusalOf(join), HasSubstr("has no node named 'n9?'"));
  join = SchedulerHarness::JoinOf(1);
  join.address = "10.0.0.1:80";
  EXPECT_THAT(RefusalOf(join), HasSubstr("expected an address of the form tcp://host:port"));
}

TEST(SchedulerRefusalTest, TwoNodesWithOneName) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1, 1));
  harness.Receive(2, SchedulerHarness::JoinOf(1, 2));
  EXPECT_THAT(harness.Sent<JoinRefused>(2), IsEmpty());
  harness.Advance(absl::Seconds(1), {1});
  ASSERT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  EXPECT_THAT(harness.Sent<JoinRefused>(2)[0].reason, HasSubstr("node 'n1' has joined from"));
}

TEST(SchedulerRefusalTest, ANodeThatIsRestartedBeforeTheStartTakesItsPlace) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1, 1));
  harness.Receive(kAnother, SchedulerHarness::JoinOf(1, 2));
  harness.Advance(absl::Milliseconds(1900));
  EXPECT_THAT(harness.Sent<JoinAccepted>(kAnother), IsEmpty()) << "the other may only be slow";
  harness.Advance(absl::Milliseconds(200));
  EXPECT_THAT(harness.Sent<JoinAccepted>(kAnother), SizeIs(1));
  // The end of its connection says the same at once.
  harness.Receive(2, SchedulerHarness::JoinOf(1, 3));
  harness.Step(ConnectionDown{kAnother});
  EXPECT_THAT(harness.Sent<JoinAccepted>(2), SizeIs(1));
}

TEST(SchedulerRefusalTest, WhoWasSilentWhenTheJobStartedMayJoinAnew) {
  SchedulerHarness harness(MeshOverlay(3, "membership: {start_with: 2}\n"));
  harness.Receive(3, SchedulerHarness::JoinOf(3));
  harness.Advance(absl::Seconds(6));
  harness.JoinAll(2);
  EXPECT_THAT(harness.Sent<EpochPlan>(1), SizeIs(1));
  EXPECT_THAT(harness.Sent<EpochPlan>(3), IsEmpty());
  harness.Receive(3, Heartbeat{});
  ASSERT_THAT(harness.Sent<JoinRefused>(3), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(3)[0].fell_out);
}

TEST(SchedulerRefusalTest, OneConnectionCannotBeTwoNodes) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, SchedulerHarness::JoinOf(2));
  ASSERT_THAT(harness.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_THAT(harness.Sent<JoinRefused>(1)[0].reason, HasSubstr("is that of node 'n1'"));
}

TEST(SchedulerRefusalTest, MessagesOfStrangersAreCountedAndTheLogStaysShort) {
  SchedulerHarness harness(MeshOverlay(2));
  const size_t logged = harness.logs().size();
  for (int i = 0; i < 1000; ++i) harness.Receive(1, Heartbeat{});
  EXPECT_THAT(harness.AllSent(1), IsEmpty());
  EXPECT_LE(harness.logs().size(), logged + 10);
  harness.Receive(1, StatusRequest{});
  EXPECT_THAT(StatusJson(*harness.Sent<StatusReply>(1)[0].status), HasSubstr("\"rejected_messages\":1000"));
}

TEST(SchedulerRefusalTest, UnexpectedMessagesOfAMemberAreRejected) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.ForgetSent();
  harness.Receive(1, ChunkMessage{});
  harness.Receive(1, JobFailed{Term(9), absl::StatusCode::kInternal, "I say so"});
  harness.Receive(1, Ask(KeyId(9), 1));
  harness.Receive(1, Ask(key, uint64_t{1} << 60));
  harness.Receive(1, RoundsClosed{{{key, Round(3), 1}}});
  harness.Receive(1, BarrierEntered{3});
  harness.Receive(1, PeerLost{NodeId(9), ""});
  harness.Receive(1, PeerLost{NodeId(1), ""});
  EXPECT_THAT(harness.AllSent(1), IsEmpty());
  EXPECT_THAT(harness.AllSent(2), IsEmpty());
  harness.Receive(1, StatusRequest{});
  EXPECT_THAT(StatusJson(*harness.Sent<StatusReply>(1)[0].status), HasSubstr("\"rejected_messages\":8"));
}

// What it has said would be missing for ever.
TEST(SchedulerFailureTest, AMemberOfWhichAMessageCannotBeReadFallsOut) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  harness.Step(MessageRejected{SchedulerHarness::ConnectionOf(1),
                               absl::InvalidArgumentError("malformed RoundsClosed: entries: more came")});
  ASSERT_THAT(harness.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(1)[0].fell_out);
  EXPECT_EQ(harness.Sent<JoinRefused>(1)[0].reason,
            "a message of n1 cannot be read: malformed RoundsClosed: entries: more came");
  harness.BeginEpoch({2, 3});
  EXPECT_THAT(harness.Sent<EpochBegin>(1), IsEmpty());
  ASSERT_THAT(harness.Sent<EpochBegin>(2), SizeIs(1));
  EXPECT_THAT(harness.Sent<EpochBegin>(2)[0].reason, HasSubstr("malformed RoundsClosed"));
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
}

TEST(SchedulerFailureTest, WhoCannotTakeWhatItIsToldFallsOutAndTheJobFailsWhenThatIsSoOfAll) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  for (int twice = 0; twice < 2; ++twice) harness.Receive(1, CannotFollow{"it cannot take the scheduler's policy"});
  EXPECT_THAT(harness.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_TRUE(harness.HasLog("n1 falls out: n1 cannot go on: it cannot take the scheduler's policy"));
  harness.BeginEpoch({2, 3});
  EXPECT_THAT(harness.Sent<EpochBegin>(2), SizeIs(1));
  harness.Receive(2, CannotFollow{"it cannot take the scheduler's epoch plan"});
  EXPECT_THAT(harness.Sent<JobFailed>(3), IsEmpty());
  harness.Receive(3, CannotFollow{"it cannot take the scheduler's epoch plan"});
  EXPECT_THAT(FailureOf(harness, 3).reason,
              HasSubstr("no member can go on: n3 cannot go on: it cannot take the scheduler's epoch plan"));
}

TEST(SchedulerFailureTest, UnequalResultsNameKeyRoundAndNodes) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("fc1", 10);
  harness.Receive(1, Ask(key, 4));
  harness.Receive(1, RoundsClosed{{{key, Round(4), 10}}});
  harness.Receive(2, RoundsClosed{{{key, Round(4), 11}}});
  EXPECT_EQ(FailureOf(harness, 1).code, absl::StatusCode::kDataLoss);
  EXPECT_THAT(FailureOf(harness, 1).reason,
              HasSubstr("round 4 of key 'fc1': the result of n1 has hash 000000000000000a "
                        "and that of n2 000000000000000b"));
}

TEST(SchedulerFailureTest, WhoseResultDiffersFromMostFallsOutAndTheOthersGoOn) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("fc1", 10);
  harness.Receive(1, Ask(key, 4));
  harness.Receive(2, RoundsClosed{{{key, Round(4), 11}}});
  harness.Receive(3, RoundsClosed{{{key, Round(4), 10}}});
  EXPECT_THAT(harness.Sent<JoinRefused>(2), IsEmpty());
  harness.Receive(1, RoundsClosed{{{key, Round(4), 10}}});
  ASSERT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(2)[0].fell_out);
  EXPECT_THAT(harness.Sent<JoinRefused>(2)[0].reason, HasSubstr("the result of n2 has hash 000000000000000b"));
  harness.BeginEpoch({1, 3});
  ASSERT_THAT(harness.Sent<EpochBegin>(1), SizeIs(1));
  EXPECT_THAT(harness.Sent<EpochBegin>(2), IsEmpty());
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
}

TEST(SchedulerFailureTest, SleepOfTheSchedulerIsNoSilenceOfNodes) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Advance(absl::Milliseconds(100));
  // Nothing is delivered for 20 s; then the deadline comes first, and what the nodes said meanwhile follows.
  harness.Sleep(absl::Seconds(20));
  harness.Step(DeadlineReached{});
  harness.Receive(1, Heartbeat{});
  harness.Receive(2, Heartbeat{});
  harness.Advance(absl::Seconds(10), {1, 2});
  EXPECT_THAT(harness.Sent<EpochBegin>(1), IsEmpty());
  harness.Advance(absl::Seconds(10), {1});
  EXPECT_THAT(harness.Sent<EpochBegin>(1), SizeIs(1));
}

TEST(SchedulerFailureTest, ALostWorkerEndsNothing) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Receive(2, WorkerLost{WorkerId(4), "its socket closed"});
  harness.Advance(absl::Seconds(1), {1, 2});
  EXPECT_TRUE(harness.HasLog("worker 4 of n2 is lost: its socket closed"));
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
  EXPECT_THAT(harness.Sent<EpochBegin>(1), IsEmpty()) << "broadcasts take their values from n1";
}

TEST(SchedulerFailureTest, WhereAllWorkersAreLostBroadcastsTakeTheirValuesFromANodeThatStillHasThem) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  harness.AddKey("w", 10);
  harness.Receive(3, WorkerLost{WorkerId(0), "it died", /*has_values=*/true});
  harness.Receive(2, WorkerLost{WorkerId(0), "it died"});
  harness.Receive(1, WorkerLost{WorkerId(0), "it died"});
  harness.BeginEpoch({1, 2, 3});
  ASSERT_THAT(harness.Sent<EpochBegin>(1), SizeIs(1));
  harness.ReportProgress({1, 2, 3}, Round(1));
  EXPECT_EQ(harness.Sent<PolicyPublished>(1).back().slice.source, NodeId(3));
  harness.Receive(3, WorkerLost{WorkerId(0), "it died", /*has_values=*/true});
  harness.Receive(3, WorkerLost{WorkerId(0), "it died"});
  harness.Advance(absl::Seconds(1), {1, 2, 3});
  EXPECT_THAT(harness.Sent<EpochBegin>(1), SizeIs(1)) << "nobody has more to say";
}

TEST(SchedulerFailureTest, ABrokenRoundNamesKeyRoundAndCulprit) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(2, RoundBroken{KeyId(9), Round(4), NodeId(3), "no such key"});
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
  harness.Receive(2, RoundBroken{key, Round(4), NodeId(3), "weight 0 came with 1 frames"});
  EXPECT_THAT(harness.Sent<JoinRefused>(2), IsEmpty()) << "others may yet say the same";
  harness.Advance(absl::Seconds(1), {1, 2, 3});
  const std::vector<JoinRefused> told = harness.Sent<JoinRefused>(2);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_TRUE(told[0].fell_out);
  EXPECT_EQ(told[0].reason, "n2 cannot finish round 4 of key 'w': n3: weight 0 came with 1 frames");
  harness.BeginEpoch({1, 3});
  harness.ReportProgress({1, 3}, Round(4));
  EXPECT_THAT(harness.Sent<EpochPlan>(3), SizeIs(1)) << "the others go on";
  for (const int node : {1, 3}) EXPECT_THAT(harness.Sent<JobFailed>(node), IsEmpty());
}

TEST(SchedulerFailureTest, WhomTwoMembersBlameFallsOutInsteadOfThem) {
  SchedulerHarness harness(MeshOverlay(4));
  harness.StartJob(4);
  const KeyId key = harness.AddKey("w", 10);
  for (const int node : {2, 1}) harness.Receive(node, RoundBroken{key, Round(4), NodeId(3), "torn"});
  harness.Advance(absl::Seconds(1), {1, 2, 3, 4});
  const std::vector<JoinRefused> told = harness.Sent<JoinRefused>(3);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].reason, "n2 cannot finish round 4 of key 'w': n3: torn; n1 has blamed it too");
  for (const int node : {1, 2, 4}) {
    EXPECT_THAT(harness.Sent<JoinRefused>(node), IsEmpty());
    EXPECT_THAT(harness.Sent<JobFailed>(node), IsEmpty());
  }
}

TEST(SchedulerFailureTest, WhomASecondMemberBlamesLaterFallsOut) {
  SchedulerHarness harness(MeshOverlay(4));
  harness.StartJob(4);
  const KeyId key = harness.AddKey("w", 10);
  for (int twice = 0; twice < 2; ++twice) harness.Receive(2, RoundBroken{key, Round(4), NodeId(3), "torn"});
  harness.Advance(absl::Seconds(1), {1, 2, 3, 4});
  EXPECT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  harness.BeginEpoch({1, 3, 4});
  harness.ReportProgress({1, 3, 4}, Round(4));
  harness.Receive(1, RoundBroken{key, Round(4), NodeId(3), "torn"});
  harness.Advance(absl::Seconds(1), {1, 3, 4});
  const std::vector<JoinRefused> told = harness.Sent<JoinRefused>(3);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].reason, "n1 cannot finish round 4 of key 'w': n3: torn; n2 has blamed it too");
  harness.Receive(1, RoundBroken{key, Round(4), NodeId(3), "torn"});  // said again with a join
  harness.BeginEpoch({1, 4});
  harness.ReportProgress({1, 4}, Round(4));
  EXPECT_THAT(harness.Sent<EpochPlan>(1), SizeIs(2)) << "the others go on";
  EXPECT_THAT(harness.Sent<JoinRefused>(1), IsEmpty());
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
}

TEST(SchedulerFailureTest, OneMemberThatBlamesAllInTurnEndsNothing) {
  SchedulerHarness harness(MeshOverlay(4));
  harness.StartJob(4);
  const KeyId key = harness.AddKey("w", 10);
  for (const uint32_t culprit : {1, 2, 4}) harness.Receive(3, RoundBroken{key, Round(4), NodeId(culprit), "torn"});
  harness.Advance(absl::Seconds(1), {1, 2, 3, 4});
  EXPECT_THAT(harness.Sent<JoinRefused>(3), SizeIs(1));
  for (const int node : {1, 2, 4}) {
    EXPECT_THAT(harness.Sent<JobFailed>(node), IsEmpty());
    EXPECT_THAT(harness.Sent<JoinRefused>(node), IsEmpty());
  }
}

TEST(SchedulerFailureTest, ARoundThatMostMembersCannotFinishEndsTheJob) {
  SchedulerHarness harness(MeshOverlay(5));
  harness.StartJob(5);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, RoundBroken{key, Round(4), NodeId(2), "torn"});
  harness.Advance(absl::Seconds(1), {1, 2, 3, 4, 5});
  harness.BeginEpoch({2, 3, 4, 5});
  harness.Receive(2, RoundBroken{key, Round(4), NodeId(3), "torn"});
  harness.Advance(absl::Seconds(1), {2, 3, 4, 5});
  EXPECT_THAT(harness.Sent<JobFailed>(5), IsEmpty());
  harness.Receive(4, RoundBroken{key, Round(4), NodeId(5), "torn"});
  harness.Advance(absl::Seconds(1), {3, 4, 5});
  EXPECT_EQ(FailureOf(harness, 5).reason, "n4 cannot finish round 4 of key 'w': n5: torn");
}

TEST(SchedulerFailureTest, ANumberThatIsNotFiniteEndsTheJobOfAllWhereThatIsTheRule) {
  OverlayConfig overlay = MeshOverlay(3);
  overlay.aggregation.not_finite = NotFiniteRule::kFail;
  SchedulerHarness harness(overlay);
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(2, RoundBroken{key, Round(4), NodeId(), "worker 0 pushed NaN"});
  EXPECT_EQ(FailureOf(harness, 1).reason, "n2 cannot finish round 4 of key 'w': worker 0 pushed NaN");
}

TEST(SchedulerFailureTest, ABrokenRoundThatIsNobodysDoingBlamesNobody) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, RoundBroken{key, Round(4), NodeId(), "no member sent values for it"});
  EXPECT_EQ(FailureOf(harness, 2).reason, "n1 cannot finish round 4 of key 'w': no member sent values for it");
}

TEST(SchedulerFailureTest, AWorkerThatIsLostBeforeTheStartHoldsNothingUp) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, WorkerLost{WorkerId(0), "it died"});
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  EXPECT_TRUE(harness.HasLog("worker 0 of n1 is lost: it died"));
  ASSERT_THAT(harness.Sent<PolicyPublished>(1), SizeIs(1));
  EXPECT_EQ(harness.Sent<PolicyPublished>(1)[0].slice.source, NodeId(2));
}

TEST(SchedulerFailureTest, EverythingAfterAFailureIsAnsweredByIt) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.persists = false;
  harness.Receive(1, Ask(key, 1));
  harness.Receive(kOperator, StopJob{"enough"});
  // Nobody hears of an end that a restart of the scheduler would not know.
  harness.Receive(1, Ask(key, 1));
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
  harness.PersistWaiting();
  EXPECT_THAT(harness.Sent<PolicyAnswer>(1), IsEmpty());
  EXPECT_THAT(harness.Sent<JobFailed>(1), SizeIs(1));
  harness.persists = true;
  harness.Receive(1, Ask(key, 1));
  harness.Receive(1, RegisterKeys{{{"v", 1}}});
  harness.Receive(1, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<JobFailed>(1), SizeIs(4));
  harness.Receive(1, Heartbeat{});
  EXPECT_THAT(harness.Sent<HeartbeatReply>(1), SizeIs(1));
  // A member that lost its connection hears of it; another start of it is refused.
  const ConnectionId again(kInboundConnection.value() + 77);
  harness.Receive(again, SchedulerHarness::JoinOf(1));
  EXPECT_THAT(harness.Sent<JobFailed>(again), SizeIs(1));
  const ConnectionId other(kInboundConnection.value() + 78);
  harness.Receive(other, SchedulerHarness::JoinOf(2, 5));
  ASSERT_THAT(harness.Sent<JoinRefused>(other), SizeIs(1));
  EXPECT_EQ(
      harness.Sent<JoinRefused>(other)[0].reason,
      "job 'test' was stopped by an operator: enough; `banyan scheduler --another` begins another one of its name");
  EXPECT_TRUE(harness.Sent<JoinRefused>(other)[0].job_is_over) << "that is no error of its";
}

// Why the last change of membership was, as the node was told.
std::string ReasonToldTo(const SchedulerHarness& harness, int node) {
  const std::vector<EpochBegin> begun = harness.Sent<EpochBegin>(node);
  return begun.empty() ? "" : begun.back().reason;
}

TEST(SchedulerFailureTest, NewRoundAfterALeaveNamesWhoLeft) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, Ask(key, 1));
  harness.CloseRound(key, Round(1), 2);
  harness.Receive(1, Leave{"its workers are done"});
  harness.Receive(2, Ask(key, 2));
  harness.Advance(absl::Seconds(60), {2});
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
  harness.Receive(2, ReportOfPush(key, 2));
  harness.BeginEpoch({2});
  EXPECT_EQ(ReasonToldTo(harness, 2),
            "n1 has left (its workers are done): round 2 of key 'w', which n2 has pushed, cannot run");
  // It trains on alone, and its request is answered.
  harness.ReportProgress({2}, Round(2));
  EXPECT_THAT(harness.Sent<PolicyAnswer>(2), SizeIs(1));
}

TEST(SchedulerFailureTest, RoundThatNobodyPushesMayStayOpenAfterALeave) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, Ask(key, 0));
  harness.CloseRound(key, Round(0), 3);
  harness.Receive(1, Ask(key, 1));
  harness.Receive(2, Ask(key, 2));  // ahead of time
  harness.CloseRound(key, Round(1), 3);
  harness.Receive(2, ReportOfPush(key, 1));
  harness.Receive(1, Leave{"its workers are done"});
  harness.Receive(2, Ask(key, 3));
  harness.Advance(absl::Seconds(60), {2, 3});
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
  for (int node : {2, 3}) harness.Receive(node, Leave{"its workers are done"});
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
  EXPECT_TRUE(harness.HasLog("the job is done"));
}

TEST(SchedulerFailureTest, PushOfABoundRoundAfterALeaveNamesWhoLeft) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, Ask(key, 1));
  harness.Receive(2, Ask(key, 2));
  harness.CloseRound(key, Round(1), 2);
  harness.Receive(1, Leave{"its workers are done"});
  harness.Advance(absl::Seconds(60), {2});
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
  harness.Receive(2, ReportOfPush(key, 2));
  harness.BeginEpoch({2});
  EXPECT_THAT(ReasonToldTo(harness, 2), HasSubstr("n1 has left (its workers are done): round 2 of key 'w'"));
}

TEST(SchedulerFailureTest, ABarrierDoesNotWaitForWhoHasLeft) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  for (int node : {2, 3}) harness.Receive(node, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(3), IsEmpty());
  harness.Receive(1, Leave{"its workers are done"});
  EXPECT_THAT(harness.Sent<BarrierReleased>(3), SizeIs(1));
  for (int node : {2, 3}) harness.Receive(node, BarrierEntered{1});
  EXPECT_THAT(harness.Sent<BarrierReleased>(3), SizeIs(2));
}

TEST(SchedulerFailureTest, WhatAStoppedNodeWaitedForHurtsNobody) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, Ask(key, 1));
  harness.Receive(1, ReportOfPush(key, 1));
  harness.Receive(1, BarrierEntered{0});
  harness.Receive(1, Leave{"it was stopped", true});
  harness.Advance(absl::Seconds(60), {2});
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
}

TEST(SchedulerFailureTest, AStartWithoutAPlanWaitsForMoreNodes) {
  const std::string links = "links:\n  - {between: [n1, n2], mbps: 10}\n  - {between: [n2, n3], mbps: 10}\n";
  SchedulerHarness harness(MeshOverlay(3, links + "membership: {start_with: 2}\n"));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(3, SchedulerHarness::JoinOf(3));
  harness.Advance(absl::Milliseconds(100), {1, 3});
  EXPECT_TRUE(harness.HasLog("the start waits for more nodes, since there is no plan for those that have joined: "));
  EXPECT_THAT(harness.Sent<MembershipUpdate>(1).back().waiting_for, ElementsAre("n2"));
  // Who says the same again changes nothing.
  harness.Receive(3, SchedulerHarness::JoinOf(3));
  EXPECT_EQ(harness.waiting_computations(), 0u);
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  for (const int node : {1, 2, 3}) {
    EXPECT_THAT(harness.Sent<JobFailed>(node), IsEmpty());
    EXPECT_THAT(harness.Sent<PolicyPublished>(node), SizeIs(1));
    EXPECT_TRUE(harness.Sent<MembershipUpdate>(node).back().started);
  }
}

TEST(SchedulerFailureTest, AStopOfTheSchedulerEndsNoJob) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Step(StopRequested{});
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
  ASSERT_TRUE(harness.stopped().has_value());
  EXPECT_TRUE(harness.stopped()->ok());
  harness.Receive(1, Heartbeat{});
  EXPECT_THAT(harness.Sent<HeartbeatReply>(1), IsEmpty());
  SchedulerHarness after(MeshOverlay(2), harness.stored());
  EXPECT_TRUE(after.HasLog("back with"));
}

TEST(SchedulerFailureTest, AnOperatorStopsTheJobForGood) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Receive(kOperator, StopJob{"enough"});
  EXPECT_EQ(FailureOf(harness, 1).reason, "stopped by an operator: enough");
  EXPECT_EQ(FailureOf(harness, 1).code, absl::StatusCode::kCancelled);
  EXPECT_TRUE(FailureOf(harness, 1).asked_for);
  EXPECT_FALSE(HasErrors(harness));
  EXPECT_TRUE(harness.Sent<OperatorReply>(kOperator).at(0).accepted);
  harness.Receive(kOperator, StopJob{""});
  EXPECT_FALSE(harness.Sent<OperatorReply>(kOperator).at(1).accepted) << "it is over";
  SchedulerHarness after(MeshOverlay(2), harness.stored());
  EXPECT_FALSE(after.HasLog("back with"));
}

TEST(SchedulerFailureTest, BadRecordsStopTheSchedulerWithAReason) {
  SchedulerHarness before(MeshOverlay(2));
  StoredRecords stored = before.stored();
  stored.tail.push_back("\xff");
  SchedulerHarness malformed(MeshOverlay(2), stored);
  ASSERT_TRUE(malformed.stopped().has_value());
  EXPECT_EQ(malformed.stopped()->code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(malformed.stopped()->message()), HasSubstr("state record 3 of 3"));
  SchedulerHarness no_snapshot(MeshOverlay(2), StoredRecords{"\xff", {}, ""});
  ASSERT_TRUE(no_snapshot.stopped().has_value());
  EXPECT_EQ(no_snapshot.stopped()->code(), absl::StatusCode::kDataLoss);
}

TEST(SchedulerFailureTest, RecordsOfAnotherOverlayStopTheScheduler) {
  SchedulerHarness before(MeshOverlay(3));
  before.JoinAll(3);
  SchedulerHarness smaller(MeshOverlay(2), before.stored());
  ASSERT_TRUE(smaller.stopped().has_value());
  EXPECT_EQ(smaller.stopped()->code(), absl::StatusCode::kFailedPrecondition);
}

// Who floods it while the disk stands still must join again. The others, and the job, know nothing of it.
TEST(SchedulerFailureTest, DiskThatStandsStillCostsConnectionsBeforeMemory) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.persists = false;
  for (size_t i = 0; i <= kMaxHeldMessages; ++i) harness.Receive(1, Ask(key, 1));
  EXPECT_TRUE(harness.HasLog("the storage of the state is too slow"));
  EXPECT_FALSE(harness.HasLog("job failed"));
  EXPECT_EQ(harness.core().TableSizes().at("held"), 0u);
  harness.PersistWaiting();
  harness.persists = true;
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, Ask(key, 1));
  harness.Receive(2, Ask(key, 1));
  EXPECT_FALSE(harness.Sent<PolicyAnswer>(1).empty());
  EXPECT_FALSE(harness.Sent<PolicyAnswer>(2).empty());
}

// What comes after the end piles up no more than what came before.
TEST(SchedulerFailureTest, DiskThatStandsStillAfterTheEndHoldsLittle) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.persists = false;
  harness.Receive(1, RoundBroken{key, Round(1), NodeId(2), "a test"});
  for (size_t i = 0; i <= kMaxHeldMessages; ++i) harness.Receive(1, SchedulerHarness::JoinOf(1));
  EXPECT_LE(harness.core().TableSizes().at("held"), kMaxHeldMessages);
  harness.PersistWaiting();
  EXPECT_EQ(FailureOf(harness, 2).code, absl::StatusCode::kUnavailable);
}

// Nobody else tells an operator what came of an order.
TEST(SchedulerFailureTest, AnswersToOperatorsOutliveTheEndAndASlowStorage) {
  SchedulerOptions options;
  options.most_held_bytes = 100'000;
  SchedulerHarness harness(MeshOverlay(3), options);
  harness.StartJob(3);
  harness.persists = false;
  harness.Receive(kOperator, RemoveNode{"n3"});
  harness.Receive(kOperator, VetoLowBit{});
  harness.Receive(kOperator, StopJob{"enough"});
  const size_t held = harness.core().TableSizes().at("held");
  size_t most_held = held;
  for (int i = 0; i < 2000; ++i) {
    harness.Receive(1, SchedulerHarness::JoinOf(1));
    most_held = std::max(most_held, harness.core().TableSizes().at("held"));
  }
  EXPECT_GT(most_held, held + 10);
  EXPECT_LT(most_held, 2000u) << "what waits for nodes was forgotten";
  EXPECT_THAT(harness.Sent<OperatorReply>(kOperator), IsEmpty());
  harness.PersistWaiting();
  const std::vector<OperatorReply> replies = harness.Sent<OperatorReply>(kOperator);
  ASSERT_THAT(replies, SizeIs(3));
  EXPECT_TRUE(replies[0].accepted);
  EXPECT_THAT(replies[0].text, HasSubstr("n3 is removed"));
  EXPECT_THAT(replies[2].text, HasSubstr("is over for all its nodes"));
  EXPECT_EQ(FailureOf(harness, 2).reason, "stopped by an operator: enough");
}

TEST(SchedulerFailureTest, AnswersToOperatorsAreBoundedAfterTheEndToo) {
  SchedulerOptions options;
  options.most_held_bytes = 100'000;
  SchedulerHarness harness(MeshOverlay(2), options);
  harness.StartJob(2);
  harness.persists = false;
  for (int i = 0; i < 2000; ++i) harness.Receive(kOperator, StopJob{"enough"});
  EXPECT_LT(harness.core().TableSizes().at("held"), 1500u);
  harness.PersistWaiting();
  EXPECT_EQ(FailureOf(harness, 2).reason, "stopped by an operator: enough");
}

TEST(SchedulerFailureTest, AFailureIsToldOnceItIsDurable) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.persists = false;
  harness.Receive(kOperator, StopJob{});
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
  EXPECT_THAT(harness.Sent<OperatorReply>(kOperator), IsEmpty());
  harness.PersistWaiting();
  EXPECT_EQ(FailureOf(harness, 1).reason, "stopped by an operator");
}

TEST(SchedulerFailureTest, AStopWaitsUntilWhatWasSaidIsDurable) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.persists = false;
  harness.Receive(1, RegisterKeys{{{"w", 10}}});
  harness.Step(StopRequested{});
  EXPECT_FALSE(harness.stopped().has_value());
  harness.PersistWaiting();
  EXPECT_THAT(harness.Sent<KeysAssigned>(1), SizeIs(1));
  ASSERT_TRUE(harness.stopped().has_value());
  EXPECT_TRUE(harness.stopped()->ok());
}

TEST(SchedulerFailureTest, WhoHasLeftBeforeARestartIsNotMissedAfterIt) {
  SchedulerHarness before(MeshOverlay(2));
  before.StartJob(2);
  before.AddKey("w", 10);
  before.Receive(1, Leave{"its workers are done"});
  SchedulerHarness after(MeshOverlay(2), before.stored());
  after.Receive(2, SchedulerHarness::JoinOf(2));
  after.Advance(absl::Seconds(6), {2});
  EXPECT_THAT(after.Sent<JobFailed>(2), IsEmpty());
  EXPECT_EQ(ReasonToldTo(after, 2), "");
  after.Receive(2, Leave{"its workers are done"});
  EXPECT_THAT(after.Sent<JobFailed>(2), IsEmpty());
  EXPECT_TRUE(after.HasLog("the job is done"));
}

TEST(SchedulerFailureTest, RunAheadIsHeldBackUntilRoundsClose) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  for (uint64_t round = 0; round < 100; ++round) {
    harness.Receive(1, Ask(key, round));
  }
  EXPECT_EQ(harness.core().TableSizes().at("bindings"), 64u);
  EXPECT_EQ(harness.core().TableSizes().at("parked"), 36u);
  EXPECT_THAT(harness.Sent<PolicyAnswer>(1), SizeIs(64));
  for (uint64_t round = 0; round < 36; ++round) harness.CloseRound(key, Round(round), 2);
  EXPECT_EQ(harness.core().TableSizes().at("parked"), 0u);
  EXPECT_THAT(harness.Sent<PolicyAnswer>(1), SizeIs(100));
}

}  // namespace
}  // namespace banyan
