// Whole exchanges with a scheduler whose job goes well.
#include "scheduler/scheduler_core.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PolicyRequest Ask(KeyId key, uint64_t round) { return PolicyRequest{{{key, Round(round)}}}; }

TEST(SchedulerCoreTest, StartsWhenAllHaveJoinedInAnyOrder) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.Receive(3, SchedulerHarness::JoinOf(3));
  ASSERT_THAT(harness.Sent<JoinAccepted>(3), SizeIs(1));
  EXPECT_EQ(harness.Sent<JoinAccepted>(3)[0].node, NodeId(3));
  EXPECT_EQ(harness.Sent<JoinAccepted>(3)[0].term, Term(1));
  EXPECT_EQ(harness.Sent<JoinAccepted>(3)[0].config.job, "test");
  ASSERT_THAT(harness.Sent<MembershipUpdate>(3), SizeIs(1));
  EXPECT_THAT(harness.Sent<MembershipUpdate>(3)[0].waiting_for, ElementsAre("n1", "n2"));
  EXPECT_EQ(harness.Sent<MembershipUpdate>(3)[0].expected, 3u);

  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  EXPECT_TRUE(harness.HasLog("all 3 nodes joined: epoch 1"));
  EXPECT_TRUE(harness.HasLog("policy 1: packed, "));
  for (int node = 1; node <= 3; ++node) {
    EXPECT_TRUE(harness.Sent<MembershipUpdate>(node).back().started);
    ASSERT_THAT(harness.Sent<PolicyPublished>(node), SizeIs(1));
    const PolicySlice slice = harness.Sent<PolicyPublished>(node)[0].slice;
    EXPECT_EQ(slice.version, PolicyVersion(1));
    EXPECT_EQ(slice.epoch, Epoch(1));
    EXPECT_EQ(slice.member_count, 3u);
    EXPECT_THAT(slice.trees, SizeIs(3));
    EXPECT_FALSE(slice.neighbours.empty());
  }
}

TEST(SchedulerCoreTest, ToldOthersWhoIsWaitedFor) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  harness.Advance(absl::Milliseconds(100));
  EXPECT_THAT(harness.Sent<MembershipUpdate>(1).back().waiting_for, ElementsAre("n3"));
  EXPECT_TRUE(harness.HasLog("waiting for n3"));
}

TEST(SchedulerCoreTest, FirstJoinWaitsForTheTermToBeDurable) {
  SchedulerHarness harness(MeshOverlay(2));
  SchedulerHarness slow(MeshOverlay(2));
  slow.persists = false;
  slow.Receive(1, SchedulerHarness::JoinOf(1));
  EXPECT_THAT(slow.AllSent(1), IsEmpty());
  slow.PersistWaiting();
  EXPECT_THAT(slow.Sent<JoinAccepted>(1), SizeIs(1));
}

TEST(SchedulerCoreTest, HeartbeatsAreAnsweredEvenByASlowDisk) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.persists = false;
  harness.Receive(1, RegisterKeys{{{"w", 10}}});
  harness.Receive(1, Heartbeat{Timestamp::FromNanoseconds(5)});
  EXPECT_THAT(harness.Sent<KeysAssigned>(1), IsEmpty());
  EXPECT_THAT(harness.Sent<HeartbeatReply>(1), ElementsAre(HeartbeatReply{Term(1), Timestamp::FromNanoseconds(5)}));
}

TEST(SchedulerCoreTest, KeysAreAssignedInOrderOfArrivalAndOnlyAfterTheStart) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  harness.Receive(2, RegisterKeys{{{"b", 20}, {"a", 10}}});
  EXPECT_THAT(harness.Sent<KeysAssigned>(2), IsEmpty());
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, RegisterKeys{{{"a", 10}, {"c", 30}}});
  for (int node = 1; node <= 2; ++node) {
    std::vector<KeySlice> rows;
    for (const KeysAssigned& assigned : harness.Sent<KeysAssigned>(node)) {
      for (const KeySlice& row : assigned.keys) {
        if (rows.empty() || row.key > rows.back().key) rows.push_back(row);
      }
    }
    EXPECT_THAT(rows,
                ElementsAre(KeySlice{KeyId(1), "b", 20}, KeySlice{KeyId(2), "a", 10}, KeySlice{KeyId(3), "c", 30}));
  }
  // The asker of a known key hears of it again.
  harness.ForgetSent();
  harness.Receive(1, RegisterKeys{{{"b", 20}}});
  ASSERT_THAT(harness.Sent<KeysAssigned>(1), SizeIs(1));
  EXPECT_THAT(harness.Sent<KeysAssigned>(1)[0].keys, ElementsAre(KeySlice{KeyId(1), "b", 20}));
  EXPECT_THAT(harness.Sent<KeysAssigned>(2), IsEmpty());
}

TEST(SchedulerCoreTest, AnotherShapeIsRefusedAndTheJobGoesOn) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.AddKey("w", 10);
  harness.Receive(2, RegisterKeys{{{"w", 11}}});
  ASSERT_THAT(harness.Sent<KeyRefused>(2), SizeIs(1));
  EXPECT_EQ(harness.Sent<KeyRefused>(2)[0].name, "w");
  EXPECT_THAT(harness.Sent<KeyRefused>(2)[0].reason, HasSubstr("n2 gives it 11 elements, n1 gave it 10"));
  EXPECT_THAT(harness.Sent<JobFailed>(1), IsEmpty());
}

TEST(SchedulerCoreTest, FirstTopologyRequestFixesTheAnswerOnceItIsDurable) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  harness.persists = false;
  harness.Receive(2, Ask(key, 1));
  harness.Receive(3, Ask(key, 1));
  EXPECT_THAT(harness.Sent<PolicyAnswer>(2), IsEmpty());
  EXPECT_THAT(harness.Sent<PolicyAnswer>(3), IsEmpty());
  const size_t records = harness.records().size();
  harness.PersistWaiting();
  EXPECT_EQ(harness.records().size(), records + 1);
  harness.persists = true;
  harness.Receive(1, Ask(key, 1));
  EXPECT_EQ(harness.records().size(), records + 1);
  const PolicyAnswer expected = {Term(1), Epoch(1), {{key, Round(1), Round(1), PolicyVersion(1), Attempt(0)}}};
  for (int node = 1; node <= 3; ++node) EXPECT_THAT(harness.Sent<PolicyAnswer>(node), ElementsAre(expected));
}

TEST(SchedulerCoreTest, LeaseCoversSeveralRounds) {
  SchedulerHarness harness(MeshOverlay(2, "policy: {lease_seconds: 60}\n"));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, Ask(key, 0));
  harness.Receive(1, Ask(key, 1));
  harness.Receive(2, Ask(key, LeasePacer::kFirstLease));
  ASSERT_THAT(harness.Sent<PolicyAnswer>(1), SizeIs(2));
  EXPECT_EQ(harness.Sent<PolicyAnswer>(1)[0].bindings[0].last_round, Round(0));
  EXPECT_EQ(harness.Sent<PolicyAnswer>(1)[1].bindings[0].last_round, Round(LeasePacer::kFirstLease));
  EXPECT_EQ(harness.Sent<PolicyAnswer>(2)[0].bindings, harness.Sent<PolicyAnswer>(1)[1].bindings);
}

TEST(SchedulerCoreTest, RoundsCloseEverywhereOnceAndTogether) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId first = harness.AddKey("a", 10);
  const KeyId second = harness.AddKey("b", 10);
  harness.Receive(1, PolicyRequest{{{first, Round(1)}, {second, Round(1)}}});
  harness.Receive(1, RoundsClosed{{{first, Round(1), 5}, {second, Round(1), 6}}});
  EXPECT_THAT(harness.Sent<ClosedEverywhere>(1), IsEmpty());
  harness.Receive(2, RoundsClosed{{{first, Round(1), 5}, {second, Round(1), 6}}});
  const ClosedEverywhere expected = {Term(1), {{first, Round(1)}, {second, Round(1)}}};
  EXPECT_THAT(harness.Sent<ClosedEverywhere>(1), ElementsAre(expected));
  EXPECT_THAT(harness.Sent<ClosedEverywhere>(2), ElementsAre(expected));
  EXPECT_EQ(harness.core().TableSizes().at("bindings"), 0u);
  // A node that missed it asks again.
  harness.Receive(2, RoundsClosed{{{first, Round(1), 5}}});
  EXPECT_THAT(harness.Sent<ClosedEverywhere>(2), ElementsAre(expected, ClosedEverywhere{Term(1), {{first, Round(1)}}}));
  EXPECT_THAT(harness.Sent<ClosedEverywhere>(1), SizeIs(1));
}

TEST(SchedulerCoreTest, BarrierIsReleasedWhenAllHaveEntered) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.Receive(1, BarrierEntered{0});
  harness.Receive(1, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(1), IsEmpty());
  harness.Receive(2, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(1), ElementsAre(BarrierReleased{Term(1), 0}));
  EXPECT_THAT(harness.Sent<BarrierReleased>(2), ElementsAre(BarrierReleased{Term(1), 0}));
  harness.Receive(2, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(2), SizeIs(2));
}

TEST(SchedulerCoreTest, ReconnectedNodeIsToldEverythingAgain) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, Ask(key, 1));
  const ConnectionId again(kInboundConnection.value() + 77);
  harness.Receive(again, SchedulerHarness::JoinOf(2));
  EXPECT_THAT(harness.Sent<JoinAccepted>(again), SizeIs(1));
  ASSERT_THAT(harness.Sent<MembershipUpdate>(again), SizeIs(1));
  EXPECT_TRUE(harness.Sent<MembershipUpdate>(again)[0].started);
  ASSERT_THAT(harness.Sent<KeysAssigned>(again), SizeIs(1));
  EXPECT_THAT(harness.Sent<KeysAssigned>(again)[0].keys, SizeIs(1));
  EXPECT_THAT(harness.Sent<PolicyPublished>(again), SizeIs(1));
  harness.Receive(again, Ask(key, 1));
  EXPECT_EQ(harness.Sent<PolicyAnswer>(again)[0], harness.Sent<PolicyAnswer>(1)[0]);
  // The old connection is nobody's any more.
  harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness.Receive(again, Heartbeat{});
  EXPECT_THAT(harness.Sent<HeartbeatReply>(again), SizeIs(1));
}

TEST(SchedulerCoreTest, NodeLostBeforeTheStartMayComeBack) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, RegisterKeys{{{"w", 10}}});
  harness.Advance(absl::Seconds(6));
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  EXPECT_FALSE(harness.HasLog("epoch 1"));
  EXPECT_TRUE(harness.HasLog("nothing heard from n1 for 5s"));
  // With another start, it may have another shape for the same key.
  const ConnectionId again(kInboundConnection.value() + 77);
  harness.Receive(again, SchedulerHarness::JoinOf(1, 2));
  harness.Receive(again, RegisterKeys{{{"w", 20}}});
  EXPECT_TRUE(harness.HasLog("epoch 1"));
  EXPECT_EQ(harness.Sent<JoinAccepted>(again)[0].node, NodeId(1));
  EXPECT_EQ(harness.Sent<KeysAssigned>(again)[0].keys[0].elements, 20);
}

TEST(SchedulerCoreTest, NodeThatWasOnlySilentBeforeTheStartCountsAgain) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, RegisterKeys{{{"w", 10}}});
  harness.Advance(absl::Seconds(6));
  harness.Receive(1, Heartbeat{});
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  EXPECT_TRUE(harness.HasLog("epoch 1"));
  EXPECT_THAT(harness.Sent<KeysAssigned>(1), SizeIs(1));
}

TEST(SchedulerCoreTest, ABarrierEnteredBeforeTheStartIsReleasedAtIt) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.computes = false;
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, BarrierEntered{0});
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  harness.Receive(2, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(1), IsEmpty());
  harness.ComputeWaiting();
  EXPECT_THAT(harness.Sent<BarrierReleased>(1), SizeIs(1));
  EXPECT_THAT(harness.Sent<BarrierReleased>(2), SizeIs(1));
}

TEST(SchedulerCoreTest, ABarrierWaitsForWhoeverHasNotEnteredBeforeTheStart) {
  SchedulerHarness harness(MeshOverlay(3));
  for (int node : {1, 2, 3}) {
    harness.Receive(node, SchedulerHarness::JoinOf(node));
    if (node != 2) harness.Receive(node, BarrierEntered{0});
  }
  EXPECT_THAT(harness.Sent<BarrierReleased>(1), IsEmpty());
  harness.Receive(2, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(1), SizeIs(1));
}

TEST(SchedulerCoreTest, ABarrierForgetsANodeThatWasRestartedBeforeTheStart) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(1, BarrierEntered{0});
  harness.Receive(1, Leave{"it was stopped", true});
  const ConnectionId again(kInboundConnection.value() + 77);
  harness.Receive(again, SchedulerHarness::JoinOf(1, 2));
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  harness.Receive(2, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(2), IsEmpty());
  harness.Receive(again, BarrierEntered{0});
  EXPECT_THAT(harness.Sent<BarrierReleased>(2), SizeIs(1));
}

TEST(SchedulerCoreTest, ChangeOfMembershipDuringPlanningMakesAnotherPlan) {
  SchedulerHarness harness(MeshOverlay(3, "membership: {start_with: 2}\n"));
  harness.computes = false;
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  harness.Receive(3, SchedulerHarness::JoinOf(3));
  harness.ComputeWaiting();
  ASSERT_THAT(harness.Sent<PolicyPublished>(3), SizeIs(1));
  EXPECT_EQ(harness.Sent<PolicyPublished>(3)[0].slice.member_count, 3u);
  EXPECT_EQ(harness.Sent<PolicyPublished>(3)[0].slice.epoch, Epoch(2));
}

TEST(SchedulerCoreTest, StartsWithAPartOfTheNodes) {
  SchedulerHarness harness(MeshOverlay(4, "membership: {start_with: 2}\n"));
  harness.Receive(2, SchedulerHarness::JoinOf(2));
  harness.Receive(4, SchedulerHarness::JoinOf(4));
  ASSERT_THAT(harness.Sent<PolicyPublished>(4), SizeIs(1));
  EXPECT_EQ(harness.Sent<PolicyPublished>(4)[0].slice.member_count, 2u);
  EXPECT_EQ(harness.Sent<PolicyPublished>(4)[0].slice.source, NodeId(2));
  harness.Receive(1, SchedulerHarness::JoinOf(1));
  harness.BeginEpoch({2, 4});
  EXPECT_THAT(harness.Sent<JoinAccepted>(1), SizeIs(1)) << "it is taken in later";
}

TEST(SchedulerCoreTest, RestartedSchedulerAnswersTheSameUnderAHigherTerm) {
  SchedulerHarness before(MeshOverlay(2, "policy: {lease_seconds: 60}\n"));
  before.StartJob(2);
  const KeyId key = before.AddKey("w", 10);
  before.Receive(1, Ask(key, 1));
  before.CloseRound(key, Round(1), 2);
  before.Receive(1, BarrierEntered{0});
  before.Receive(2, BarrierEntered{0});

  SchedulerHarness after(MeshOverlay(2, "policy: {lease_seconds: 60}\n"), before.stored());
  after.Receive(1, SchedulerHarness::JoinOf(1));
  ASSERT_THAT(after.Sent<JoinAccepted>(1), SizeIs(1));
  EXPECT_EQ(after.Sent<JoinAccepted>(1)[0].term, Term(2));
  EXPECT_NE(after.Sent<JoinAccepted>(1)[0].start, StartId(1)) << "the harness's first start";
  EXPECT_FALSE(after.Sent<JoinAccepted>(1)[0].is_first_join);
  EXPECT_TRUE(after.Sent<MembershipUpdate>(1)[0].started);
  EXPECT_EQ(after.Sent<KeysAssigned>(1)[0].keys, before.Sent<KeysAssigned>(1)[0].keys);
  ASSERT_THAT(after.Sent<PolicyPublished>(1), SizeIs(1));
  after.Receive(1, Ask(key, 2));
  ASSERT_THAT(after.Sent<PolicyAnswer>(1), SizeIs(1));
  EXPECT_EQ(after.Sent<PolicyAnswer>(1)[0].bindings, before.Sent<PolicyAnswer>(1)[0].bindings);
  EXPECT_EQ(after.Sent<PolicyAnswer>(1)[0].term, Term(2));
  EXPECT_EQ(after.Sent<PolicyAnswer>(1)[0].epoch, Epoch(1));
  // What was closed stays closed, and ids are not used again.
  const std::vector<ClosedEverywhere::Entry> closed = {{key, Round(1)}};
  ASSERT_THAT(after.Sent<ClosedEverywhere>(1), SizeIs(1)) << "round 0 is not, so that no plan tells of it";
  EXPECT_EQ(after.Sent<ClosedEverywhere>(1)[0].entries, closed);
  after.Receive(1, RoundsClosed{{{key, Round(1), 7}}});
  ASSERT_THAT(after.Sent<ClosedEverywhere>(1), SizeIs(2));
  EXPECT_EQ(after.Sent<ClosedEverywhere>(1)[1].entries, closed);
  after.Receive(1, BarrierEntered{0});
  EXPECT_THAT(after.Sent<BarrierReleased>(1), SizeIs(1));
  EXPECT_EQ(after.AddKey("v", 10), KeyId(2));
  // The other one is back in time as well, and the job goes on.
  after.Receive(2, SchedulerHarness::JoinOf(2));
  after.Advance(absl::Seconds(20), {1, 2});
  EXPECT_THAT(after.Sent<JobFailed>(1), IsEmpty());
}

TEST(SchedulerCoreTest, RestartPublishesTheVeryPolicyThatWasMade) {
  SchedulerHarness before(MeshOverlay(4));
  before.JoinAll(4);
  SchedulerHarness after(MeshOverlay(4), before.stored());
  after.JoinAll(4);
  for (int node = 1; node <= 4; ++node) {
    EXPECT_EQ(after.Sent<PolicyPublished>(node)[0].slice, before.Sent<PolicyPublished>(node)[0].slice);
  }
}

TEST(SchedulerCoreTest, NewJobAfterAnEndedOneReusesNoEpochOrPolicyVersion) {
  SchedulerHarness before(MeshOverlay(2));
  before.StartJob(2);
  before.AddKey("w", 10);
  before.Receive(ConnectionId(kInboundConnection.value() + 99), StopJob{});
  SchedulerHarness after(MeshOverlay(2), before.stored());
  // A node of the old job has lost it and must begin anew.
  after.Receive(1, SchedulerHarness::JoinOf(1));
  ASSERT_THAT(after.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_THAT(after.Sent<JoinRefused>(1)[0].reason, HasSubstr("restart the node"));
  after.Receive(1, SchedulerHarness::JoinOf(1, 2));
  after.Receive(2, SchedulerHarness::JoinOf(2, 2));
  ASSERT_THAT(after.Sent<PolicyPublished>(1), SizeIs(1));
  EXPECT_EQ(after.Sent<PolicyPublished>(1)[0].slice.version, PolicyVersion(2));
  EXPECT_EQ(after.Sent<PolicyPublished>(1)[0].slice.epoch, Epoch(2));
  EXPECT_EQ(after.Sent<PolicyPublished>(1)[0].term, Term(2));
  EXPECT_EQ(after.AddKey("v", 10), KeyId(1));
}

TEST(SchedulerCoreTest, StatusIsAnsweredToAnybody) {
  SchedulerHarness harness(MeshOverlay(2));
  const ConnectionId stranger(kInboundConnection.value() + 99);
  harness.Receive(stranger, StatusRequest{});
  ASSERT_THAT(harness.Sent<StatusReply>(stranger), SizeIs(1));
  EXPECT_THAT(StatusJson(*harness.Sent<StatusReply>(stranger)[0].status), HasSubstr("\"state\":\"waiting\""));
  harness.JoinAll(2);
  harness.Receive(1, NodeReport{});
  harness.Receive(stranger, StatusRequest{});
  EXPECT_THAT(StatusJson(*harness.Sent<StatusReply>(stranger)[1].status), HasSubstr("\"state\":\"running\""));
}

TEST(SchedulerCoreTest, TrainingEndsQuietly) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  const KeyId key = harness.AddKey("w", 10);
  harness.Receive(1, Ask(key, 1));
  harness.CloseRound(key, Round(1), 2);
  harness.Receive(1, Leave{"its workers are done"});
  harness.Receive(1, Heartbeat{});
  EXPECT_THAT(harness.Sent<HeartbeatReply>(1), SizeIs(1));
  harness.Receive(2, PeerLost{NodeId(1), "silent"});
  harness.Advance(absl::Seconds(30), {2});
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
  harness.Receive(2, Leave{"its workers are done"});
  EXPECT_TRUE(harness.HasLog("all nodes have left: the job is done"));
  harness.Step(StopRequested{});
  ASSERT_TRUE(harness.stopped().has_value());
  EXPECT_TRUE(harness.stopped()->ok());
  EXPECT_THAT(harness.Sent<JobFailed>(2), IsEmpty());
}

TEST(SchedulerLostWorkerTest, NodesAreToldForWhomTheOthersHaveWaitedTooLong) {
  SchedulerHarness harness(MeshOverlay(3, "membership: {worker_lost_after_seconds: 8}\n"));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  const auto report = [&](int node, uint64_t pushed) {
    NodeReport said;
    said.workers_attached = 1;
    said.progress = {{key, Round(0), Round(pushed)}};
    harness.Receive(node, said);
  };
  const auto wait = [&](int seconds) {
    for (int second = 0; second < seconds; ++second) {
      harness.Advance(absl::Seconds(1));
      for (int node = 1; node <= 3; ++node) report(node, node == 3 ? 0 : 1);
    }
  };
  harness.Receive(1, PolicyRequest{{{key, Round(0)}}});
  harness.CloseRound(key, Round(0), 3);
  wait(7);
  EXPECT_THAT(harness.Sent<QuorumReached>(3), IsEmpty());
  wait(5);
  ASSERT_THAT(harness.Sent<QuorumReached>(3), SizeIs(1));
  EXPECT_EQ(harness.Sent<QuorumReached>(3)[0].runs, (std::vector<KeyProgressRun>{{key, Round(1)}}));
  EXPECT_THAT(harness.Sent<QuorumReached>(1), IsEmpty());
  EXPECT_TRUE(harness.HasLog("the others go on without these workers"));
}

TEST(SchedulerQuorumTest, NodesWithoutWorkersAreNoPartOfAQuorum) {
  SchedulerHarness harness(MeshOverlay(5, "aggregation: {quorum: 0.7, grace_seconds: 1}\n"));
  harness.StartJob(5);
  const KeyId key = harness.AddKey("w", 10);
  NodeReport report;
  report.workers_attached = 1;
  for (int node = 1; node <= 5; ++node) harness.Receive(node, report);
  for (const int node : {1, 2}) harness.Receive(node, RoundsPushed{{{key, Round(1)}}});
  EXPECT_THAT(harness.Sent<QuorumReached>(3), IsEmpty());
  // Two of them end their workers, and wait for no round any more.
  report.workers_attached = 0;
  for (const int node : {4, 5}) harness.Receive(node, report);
  EXPECT_THAT(harness.Sent<QuorumReached>(3), IsEmpty()) << "two of three are too few";
  harness.Receive(3, RoundsPushed{{{key, Round(1)}}});
  EXPECT_THAT(harness.Sent<QuorumReached>(3), SizeIs(1));
  for (const int node : {1, 2}) harness.Receive(node, RoundsPushed{{{key, Round(2)}}});
  EXPECT_THAT(harness.Sent<QuorumReached>(3), SizeIs(1));
  report.workers_attached = 0;
  harness.Receive(3, report);
  EXPECT_THAT(harness.Sent<QuorumReached>(1), SizeIs(2)) << "nobody else pushes";
}

}  // namespace
}  // namespace banyan
