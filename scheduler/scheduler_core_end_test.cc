// Exchanges with a job whose members have finished their work.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
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
  EXPECT_THAT(harness.Sent<JoinRefused>(2), IsEmpty());
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
  EXPECT_THAT(harness.Sent<JoinRefused>(2), IsEmpty()) << "what it said before it left is of workers that are done";
}

TEST(SchedulerEndTest, WhoReportsALateWorkerAfterTheEndIsToldThatTheJobIsOver) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  for (const int node : {1, 2}) harness.Receive(node, Leave{"its workers are done"});
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

}  // namespace
}  // namespace banyan
