// Exchanges with a job whose members have finished their work.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/state/recovered_state.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ConnectionId kAnother = ConnectionId(kInboundConnection.value() + 77);

TEST(SchedulerEndTest, WhoComesWhenTheMembersHaveFinishedIsToldThatTheJobIsOver) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  harness.Advance(absl::Milliseconds(2200), {1, 2});
  harness.ReportProgress({1, 2}, Round(0), 0);
  harness.Receive(1, Leave{"its workers are done"});
  EXPECT_FALSE(harness.HasLog("all nodes have left"));
  // One that waits for the next epoch, and one that comes later.
  harness.Receive(3, SchedulerHarness::JoinOf(3, 2));
  EXPECT_THAT(harness.Sent<JoinRefused>(3), IsEmpty());
  harness.Receive(2, Leave{"its workers are done"});
  ASSERT_THAT(harness.Sent<JoinRefused>(3), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(3)[0].job_is_over);
  harness.Receive(3, SchedulerHarness::JoinOf(3, 4));
  ASSERT_THAT(harness.Sent<JoinRefused>(3), SizeIs(2));
  EXPECT_TRUE(harness.Sent<JoinRefused>(3)[1].job_is_over);
  EXPECT_THAT(harness.Sent<JoinRefused>(3)[1].reason, HasSubstr("the job is over"));
}

TEST(SchedulerEndTest, TheJobDoesNotWaitForWhoOnlyHelps) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Receive(1, Leave{"its workers are done"});
  NodeReport report;
  report.workers_attached = 1;
  harness.Receive(2, report);
  EXPECT_FALSE(harness.HasLog("the job is done"));
  report.workers_attached = 0;
  harness.Receive(2, report);
  EXPECT_TRUE(harness.HasLog("the job is done"));
  ASSERT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(2)[0].job_is_over);
}

TEST(SchedulerEndTest, AWorkerThatEndsAtOnceDoesNotEndTheJobOfThoseThatAreYetToCome) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  NodeReport report;
  report.workers_attached = 0;
  harness.Receive(2, report);
  harness.Receive(1, Leave{"its workers are done"});
  EXPECT_FALSE(harness.HasLog("the job is done"));
  report.workers_attached = 1;
  harness.Receive(2, report);
  harness.Receive(2, Leave{"its workers are done"});
  EXPECT_TRUE(harness.HasLog("the job is done"));
}

TEST(SchedulerEndTest, TheJobIsOverWhenWhoHasNotFinishedIsGone) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Receive(1, Leave{"its workers are done"});
  harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness.Advance(absl::Milliseconds(2200), {1});
  EXPECT_TRUE(harness.HasLog("all nodes have left: the job is done"));
  EXPECT_THAT(harness.Sent<EpochBegin>(1), IsEmpty());
  harness.Receive(kAnother, SchedulerHarness::JoinOf(2));
  ASSERT_THAT(harness.Sent<JoinRefused>(kAnother), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(kAnother)[0].job_is_over);
}

TEST(SchedulerEndTest, ALateWorkerOfWhoHasLeftIsToldThatTheJobIsOver) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  for (const int node : {1, 2}) harness.Receive(node, Leave{"its workers are done"});
  EXPECT_TRUE(harness.HasLog("the job is done"));
  harness.ForgetSent();
  harness.Receive(2, StateWanted{1});
  ASSERT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(2)[0].job_is_over);
}

TEST(SchedulerEndTest, WhoReportsALateWorkerBeforeTheEndIsToldWithIt) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  NodeReport report;
  report.workers_attached = 1;
  for (const int node : {1, 2}) harness.Receive(node, report);
  harness.Receive(1, Leave{"its workers are done"});
  harness.Receive(1, report);
  EXPECT_THAT(harness.Sent<JoinRefused>(1), IsEmpty());
  harness.Receive(2, Leave{"its workers are done"});
  ASSERT_THAT(harness.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(1)[0].job_is_over);
  EXPECT_THAT(harness.Sent<JoinRefused>(1)[0].reason, HasSubstr("`banyan scheduler --another`"));
  ASSERT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  EXPECT_EQ(harness.Sent<JoinRefused>(2)[0].reason, "all nodes have finished")
      << "what it said before it left is of workers that are done";
}

TEST(SchedulerEndTest, WhoReportsALateWorkerAfterTheEndIsToldThatTheJobIsOver) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  for (const int node : {1, 2}) harness.Receive(node, Leave{"its workers are done"});
  harness.ForgetSent();
  NodeReport report;
  report.workers_attached = 0;
  harness.Receive(2, report);
  EXPECT_THAT(harness.Sent<JoinRefused>(2), IsEmpty());
  report.workers_attached = 1;
  harness.Receive(2, report);
  ASSERT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(2)[0].job_is_over);
}

TEST(SchedulerEndTest, TheJobIsOverWhenAllWhoAreHereLackTheParameters) {
  SchedulerHarness harness(MeshOverlay(3, "aggregation: {op: adam}\n"));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, PolicyRequest{{{key, Round(0)}}});
  harness.CloseRound(key, Round(0), 3);
  harness.ForgetSent();
  harness.Receive(1, Leave{"its workers are done"});
  harness.Receive(2, StateWanted{0, true});
  EXPECT_THAT(harness.Sent<StateHolders>(2), SizeIs(1));
  harness.Advance(absl::Milliseconds(100), {1, 2, 3});
  EXPECT_THAT(harness.Sent<EpochBegin>(2), IsEmpty()) << "node 3 may have them";
  harness.Receive(3, StateWanted{0, true});
  harness.Advance(absl::Milliseconds(100), {1, 2, 3});
  ASSERT_THAT(harness.Sent<EpochBegin>(2), SizeIs(1));
  const EpochReport report{harness.Sent<EpochBegin>(2)[0].epoch, {{key, key, Round(1)}}, true};
  for (const int node : {2, 3}) harness.Receive(node, report);
  EXPECT_TRUE(harness.HasLog("the job is done"));
  for (const int node : {2, 3}) EXPECT_THAT(harness.Sent<JoinRefused>(node), SizeIs(1));
}

SchedulerOptions EndsWithJob(StoredRecords stored = {}) {
  SchedulerOptions options;
  options.stored = std::move(stored);
  options.start = StartId(options.stored.tail.size() + 1);
  options.ends_with_job = true;
  options.begins_another = false;
  return options;
}

TEST(SchedulerEndTest, AllWhoHaveFinishedAreToldWhenAllHave) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Receive(1, Leave{"its workers are done"});
  EXPECT_THAT(harness.Sent<JoinRefused>(1), IsEmpty());
  harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(1)});
  harness.Receive(2, Leave{"its workers are done"});
  ASSERT_THAT(harness.Sent<JoinRefused>(2), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(2)[0].job_is_over);
  // One that was away meanwhile.
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  ASSERT_THAT(harness.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_TRUE(harness.Sent<JoinRefused>(1)[0].job_is_over);
  harness.Advance(absl::Hours(1), {1, 2});
  EXPECT_FALSE(harness.stopped().has_value()) << "it ends when it is asked to";
}

TEST(SchedulerEndTest, StopsWhenTheJobIsDoneAndItsNodesHaveGone) {
  SchedulerHarness harness(MeshOverlay(2), EndsWithJob());
  harness.StartJob(2);
  for (const int node : {1, 2}) harness.Receive(node, Leave{"its workers are done"});
  harness.Advance(absl::Seconds(4), {1, 2});
  EXPECT_FALSE(harness.stopped().has_value());
  harness.Receive(kAnother, StatusRequest{});
  EXPECT_THAT(harness.Sent<StatusReply>(kAnother), SizeIs(1));
  for (const int node : {1, 2}) harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(node)});
  harness.Advance(Farewell::kLeast);
  ASSERT_TRUE(harness.stopped().has_value());
  EXPECT_TRUE(harness.stopped()->ok());
}

TEST(SchedulerEndTest, WaitsForNodesThatStayForAWhileOnly) {
  SchedulerHarness harness(MeshOverlay(2), EndsWithJob());
  harness.StartJob(2);
  for (const int node : {1, 2}) harness.Receive(node, Leave{"its workers are done"});
  harness.Advance(MeshOverlay(2).membership.lost_after, {1, 2});
  EXPECT_TRUE(harness.stopped().has_value());
}

TEST(SchedulerEndTest, NodesHaveTheirTimeFromWhenTheEndIsDurable) {
  SchedulerHarness harness(MeshOverlay(2), EndsWithJob());
  harness.StartJob(2);
  harness.persists = false;
  harness.Receive(kAnother, StopJob{"enough"});
  harness.Advance(absl::Minutes(1), {1, 2});
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
  harness.persists = true;
  harness.PersistWaiting();
  EXPECT_THAT(harness.Sent<JobFailed>(1), SizeIs(1));
  EXPECT_FALSE(harness.stopped().has_value()) << "the message is not even on its way";
  harness.Advance(MeshOverlay(2).membership.lost_after, {1, 2});
  EXPECT_TRUE(harness.stopped().has_value());
}

TEST(SchedulerEndTest, StopsWithTheFailureOfTheJob) {
  SchedulerHarness harness(MeshOverlay(2), EndsWithJob());
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, RoundBroken{key, Round(0), NodeId(2), "its chunk is torn"});
  for (const int node : {1, 2}) harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(node)});
  harness.Advance(Farewell::kLeast);
  ASSERT_TRUE(harness.stopped().has_value());
  EXPECT_THAT(std::string(harness.stopped()->message()), HasSubstr("its chunk is torn"));
  // The next start begins another job.
  SchedulerHarness next(MeshOverlay(2), EndsWithJob(harness.stored()));
  EXPECT_FALSE(next.stopped().has_value());
  EXPECT_TRUE(next.HasLog("waiting for 2 of 2 nodes"));
}

TEST(SchedulerEndTest, AnOperatorsStopIsNoFailureAndStandsForLaterStarts) {
  SchedulerHarness harness(MeshOverlay(2), EndsWithJob());
  harness.StartJob(2);
  harness.Receive(kAnother, StopJob{"enough"});
  EXPECT_THAT(harness.Sent<OperatorReply>(kAnother), SizeIs(1));
  for (const int node : {1, 2}) harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(node)});
  harness.Advance(Farewell::kLeast);
  ASSERT_TRUE(harness.stopped().has_value());
  EXPECT_TRUE(harness.stopped()->ok());
  EXPECT_TRUE(harness.HasLog("job 'test' was stopped by an operator: enough"));
  EXPECT_FALSE(harness.HasLog("failed"));
  SchedulerHarness next(MeshOverlay(2), EndsWithJob(harness.stored()));
  // Nodes that were started again with it must not wait for ever.
  next.Receive(1, SchedulerHarness::JoinOf(1, 2));
  ASSERT_THAT(next.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_TRUE(next.Sent<JoinRefused>(1)[0].job_is_over);
  next.Receive(kAnother, StatusRequest{});
  EXPECT_THAT(next.Sent<StatusReply>(kAnother), SizeIs(1));
  EXPECT_FALSE(next.stopped().has_value()) << "others may come";
  next.Advance(MeshOverlay(2).membership.lost_after);
  ASSERT_TRUE(next.stopped().has_value());
  EXPECT_EQ(next.stopped()->code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(next.stopped()->message()), HasSubstr("`banyan scheduler --another` begins another one"));
  EXPECT_TRUE(next.HasLog("is over: stopped by an operator: enough; nothing is left to do"));
  EXPECT_THAT(next.history(), IsEmpty());
  SchedulerOptions another = EndsWithJob(harness.stored());
  another.begins_another = true;
  SchedulerHarness begun(MeshOverlay(2), std::move(another));
  EXPECT_FALSE(begun.stopped().has_value());
  // What was over is forgotten with it.
  SchedulerHarness again(MeshOverlay(2), EndsWithJob(begun.stored()));
  EXPECT_FALSE(again.stopped().has_value());
}

TEST(SchedulerEndTest, WhoWaitsToJoinHearsOfTheEnd) {
  for (const bool is_stopped : {true, false}) {
    SCOPED_TRACE(is_stopped);
    SchedulerHarness harness(MeshOverlay(2));
    harness.StartJob(2);
    const KeyId key = harness.AddKey("w", 10);
    harness.Receive(kAnother, SchedulerHarness::JoinOf(2, 2));
    EXPECT_THAT(harness.Sent<JoinRefused>(kAnother), IsEmpty()) << "it waits for the place of its former start";
    if (is_stopped) {
      harness.Receive(3, StopJob{"enough"});
    } else {
      harness.Receive(1, RoundBroken{key, Round(0), NodeId(2), "its chunk is torn"});
    }
    ASSERT_THAT(harness.Sent<JoinRefused>(kAnother), SizeIs(1));
    EXPECT_EQ(harness.Sent<JoinRefused>(kAnother)[0].job_is_over, is_stopped);
  }
}

TEST(SchedulerEndTest, ASnapshotKeepsThatTheJobIsOver) {
  const OverlayConfig overlay = MeshOverlay(2);
  SchedulerHarness harness(overlay, EndsWithJob());
  harness.StartJob(2);
  for (const int node : {1, 2}) harness.Receive(node, Leave{"its workers are done"});
  const absl::StatusOr<RecoveredState> state = ReplayStateRecords(harness.stored(), overlay.job, {"n1", "n2"});
  ASSERT_TRUE(state.ok()) << state.status();
  StoredRecords snapshot;
  snapshot.snapshot = MakeSnapshot(*state);
  SchedulerHarness next(overlay, EndsWithJob(snapshot));
  EXPECT_TRUE(next.HasLog("is over: all nodes have left"));
}

}  // namespace
}  // namespace banyan
