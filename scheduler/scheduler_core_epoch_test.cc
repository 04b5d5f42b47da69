// Exchanges in which the membership of a running job changes.
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
using ::testing::Not;
using ::testing::SizeIs;

constexpr ConnectionId kOther = ConnectionId(kInboundConnection.value() + 77);
constexpr ConnectionId kOperator = ConnectionId(kInboundConnection.value() + 99);

PolicyRequest Ask(KeyId key, uint64_t round) { return PolicyRequest{{{key, Round(round)}}}; }

std::string StatusOf(SchedulerHarness& harness) {
  harness.Receive(kOperator, StatusRequest{});
  return StatusJson(*harness.Sent<StatusReply>(kOperator).back().status);
}

// A job of three nodes and one key, whose rounds 0 and 1 are bound and round 0 is closed.
class SchedulerEpochTest : public testing::Test {
 protected:
  explicit SchedulerEpochTest(const std::string& more = "") : harness_(MeshOverlay(3, more)) {
    harness_.StartJob(3);
    key_ = harness_.AddKey("w", 10);
    harness_.Receive(1, Ask(key_, 0));
    harness_.CloseRound(key_, Round(0), 3);
    harness_.Receive(1, Ask(key_, 1));
    harness_.ForgetSent();
  }

  // Node 3 dies: its connection goes down and it does not come back.
  void KillNode3() {
    harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
    harness_.Advance(absl::Milliseconds(2200), {1, 2});
  }
  std::vector<EpochBegin> Begun(int node) { return harness_.Sent<EpochBegin>(node); }
  std::vector<EpochPlan> Plans(int node) { return harness_.Sent<EpochPlan>(node); }
  void ExpectNoFailure() {
    for (int node = 1; node <= 3; ++node) EXPECT_THAT(harness_.Sent<JobFailed>(node), IsEmpty());
  }

  SchedulerHarness harness_;
  KeyId key_;
};

TEST_F(SchedulerEpochTest, TheOthersGoOnWithoutANodeThatDies) {
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  harness_.Advance(absl::Milliseconds(1900), {1, 2});
  EXPECT_THAT(Begun(1), IsEmpty()) << "it may be reconnecting";
  harness_.Advance(absl::Milliseconds(200), {1, 2});
  const EpochBegin begin = {Term(1), Epoch(2), "the connection of n3 went down"};
  EXPECT_THAT(Begun(1), ElementsAre(begin));
  EXPECT_THAT(Begun(2), ElementsAre(begin));
  EXPECT_THAT(Plans(1), IsEmpty()) << "nobody has reported";
  harness_.ReportProgress({1}, Round(2));
  harness_.ReportProgress({2}, Round(1));
  // Round 1 is tried again, since node 2 lacks it.
  const EpochPlan plan = {Term(1),
                          Epoch(2),
                          PolicyVersion(2),
                          {{key_, key_, Round(1)}},
                          {{key_, key_, Round(1), Round(1), Attempt(1), 65536}}};
  EXPECT_THAT(Plans(1), ElementsAre(plan));
  EXPECT_THAT(Plans(2), ElementsAre(plan));
  ASSERT_THAT(harness_.Sent<PolicyPublished>(1), SizeIs(1));
  EXPECT_EQ(harness_.Sent<PolicyPublished>(1)[0].slice.member_count, 2u);
  EXPECT_EQ(harness_.Sent<PolicyPublished>(1)[0].slice.epoch, Epoch(2));
  EXPECT_THAT(harness_.Sent<PoliciesRetired>(1), ElementsAre(PoliciesRetired{Term(1), PolicyVersion(2)}));
  harness_.CloseRound(key_, Round(1), 2);
  EXPECT_THAT(harness_.Sent<ClosedEverywhere>(1), SizeIs(1));
  ExpectNoFailure();
}

TEST_F(SchedulerEpochTest, WhatAllSurvivorsHoldIsClosed) {
  KillNode3();
  harness_.ReportProgress({1, 2}, Round(2));
  ASSERT_THAT(Plans(1), SizeIs(1));
  EXPECT_THAT(Plans(1)[0].frontiers, ElementsAre(EpochPlan::Frontier{key_, key_, Round(2)}));
  EXPECT_THAT(Plans(1)[0].bindings, IsEmpty());
}

TEST_F(SchedulerEpochTest, ASilentNodeFallsOutAndIsToldWhenItSpeaks) {
  harness_.Advance(absl::Seconds(6), {1, 2});
  ASSERT_THAT(Begun(1), SizeIs(1));
  EXPECT_EQ(Begun(1)[0].reason, "nothing heard from n3 for 5s");
  EXPECT_THAT(Begun(3), IsEmpty());
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.Receive(3, Heartbeat{});
  ASSERT_THAT(harness_.Sent<JoinRefused>(3), SizeIs(1));
  EXPECT_TRUE(harness_.Sent<JoinRefused>(3)[0].fell_out);
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3));
  ASSERT_THAT(harness_.Sent<JoinRefused>(kOther), SizeIs(1));
  EXPECT_TRUE(harness_.Sent<JoinRefused>(kOther)[0].fell_out);
}

TEST_F(SchedulerEpochTest, AnotherStartOfADeadNodeTakesItsPlaceInOneChange) {
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  harness_.Receive(3, SchedulerHarness::JoinOf(3, 2));
  EXPECT_THAT(harness_.Sent<JoinAccepted>(3), IsEmpty()) << "with the next epoch";
  harness_.BeginEpoch({1, 2});
  EXPECT_THAT(Begun(1), ElementsAre(EpochBegin{Term(1), Epoch(2), "n3 has been restarted"}));
  ASSERT_THAT(harness_.Sent<JoinAccepted>(3), SizeIs(1));
  EXPECT_EQ(harness_.Sent<JoinAccepted>(3)[0].node, NodeId(3));
  EXPECT_THAT(harness_.Sent<KeysAssigned>(3), SizeIs(1));
  harness_.ReportProgress({1, 2}, Round(2));
  harness_.ReportProgress({3}, Round(0), 0);
  // It holds nothing, and nobody waits for what it lacks.
  ASSERT_THAT(Plans(3), SizeIs(1));
  EXPECT_THAT(Plans(3)[0].frontiers, ElementsAre(EpochPlan::Frontier{key_, key_, Round(2)}));
  EXPECT_EQ(harness_.Sent<PolicyPublished>(3)[0].slice.member_count, 3u);
}

TEST_F(SchedulerEpochTest, AStartThatContestsAPlaceWaitsUntilTheMemberIsHeard) {
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  EXPECT_THAT(harness_.Sent<JoinRefused>(kOther), IsEmpty());
  harness_.Advance(absl::Seconds(3), {1, 2, 3});
  ASSERT_THAT(harness_.Sent<JoinRefused>(kOther), SizeIs(1));
  EXPECT_THAT(harness_.Sent<JoinRefused>(kOther)[0].reason, HasSubstr("another node of that name"));
  EXPECT_FALSE(harness_.Sent<JoinRefused>(kOther)[0].fell_out);
  EXPECT_THAT(Begun(1), IsEmpty());
}

TEST_F(SchedulerEpochTest, AStartThatContestsAPlaceGetsItWhenTheMemberIsSilent) {
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  harness_.Advance(absl::Seconds(3), {1, 2});
  EXPECT_THAT(harness_.Sent<JoinAccepted>(kOther), SizeIs(1));
  EXPECT_THAT(Begun(1), SizeIs(1));
}

TEST_F(SchedulerEpochTest, AReconnectChangesNothing) {
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  harness_.Advance(absl::Seconds(1), {1, 2});
  harness_.Receive(3, SchedulerHarness::JoinOf(3));
  harness_.Advance(absl::Seconds(10), {1, 2, 3});
  EXPECT_THAT(Begun(1), IsEmpty());
  // It gets the plan as it is, whatever it has missed.
  ASSERT_THAT(Plans(3), SizeIs(1));
  EXPECT_EQ(Plans(3)[0].epoch, Epoch(1));
  EXPECT_THAT(Plans(3)[0].frontiers, ElementsAre(EpochPlan::Frontier{key_, key_, Round(1)}));
  EXPECT_THAT(Plans(3)[0].bindings, ElementsAre(EpochPlan::Binding{key_, key_, Round(1), Round(1), Attempt(0), 65536}));
}

TEST_F(SchedulerEpochTest, WhoReconnectsDuringAChangeIsToldOfIt) {
  KillNode3();
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness_.Receive(kOther, SchedulerHarness::JoinOf(2));
  EXPECT_THAT(harness_.Sent<EpochBegin>(kOther), SizeIs(1));
  EXPECT_THAT(harness_.Sent<EpochPlan>(kOther), IsEmpty());
}

TEST_F(SchedulerEpochTest, ACauseDuringAChangeReplacesIt) {
  KillNode3();
  harness_.ReportProgress({1}, Round(1));
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness_.Advance(absl::Milliseconds(2200), {1});
  ASSERT_THAT(Begun(1), SizeIs(2));
  EXPECT_EQ(Begun(1)[1].epoch, Epoch(3));
  EXPECT_THAT(Plans(1), IsEmpty());
  harness_.Receive(1, EpochReport{Epoch(2), {{key_, key_, Round(1)}}});
  EXPECT_THAT(Plans(1), IsEmpty()) << "a report of the change before";
  harness_.ReportProgress({1}, Round(1));
  ASSERT_THAT(Plans(1), SizeIs(1));
  EXPECT_EQ(Plans(1)[0].epoch, Epoch(3));
}

TEST_F(SchedulerEpochTest, WhoDoesNotReportFallsOut) {
  KillNode3();
  harness_.ReportProgress({1}, Round(1));
  harness_.Advance(absl::Seconds(6), {1, 2});
  ASSERT_THAT(Begun(1), SizeIs(2));
  EXPECT_EQ(Begun(1)[1].reason, "n2 has not said what it holds");
  harness_.Receive(2, Heartbeat{});
  EXPECT_TRUE(harness_.Sent<JoinRefused>(2).at(0).fell_out);
}

TEST_F(SchedulerEpochTest, MalformedReportsAreRejected) {
  KillNode3();
  harness_.Receive(1, EpochReport{Epoch(9), {}});
  harness_.Receive(1, EpochReport{Epoch(2), {{key_, KeyId(2), Round(1)}}});
  harness_.ReportProgress({2}, Round(1));
  EXPECT_THAT(Plans(1), IsEmpty());
  EXPECT_THAT(StatusOf(harness_), HasSubstr("\"rejected_messages\":2"));
  harness_.Receive(1, EpochReport{Epoch(2), {{key_, key_, Round(1000)}}});
  ASSERT_THAT(Plans(1), SizeIs(1));
  EXPECT_THAT(Plans(1)[0].frontiers, ElementsAre(EpochPlan::Frontier{key_, key_, Round(1)}));
}

TEST_F(SchedulerEpochTest, RequestsAndKeysWaitForThePlan) {
  KillNode3();
  harness_.Receive(1, Ask(key_, 2));
  harness_.Receive(2, RegisterKeys{{{"v", 10}}});
  EXPECT_THAT(harness_.Sent<PolicyAnswer>(1), IsEmpty());
  EXPECT_THAT(harness_.Sent<KeysAssigned>(2), IsEmpty());
  harness_.ReportProgress({1, 2}, Round(1));
  ASSERT_THAT(harness_.Sent<PolicyAnswer>(1), SizeIs(1));
  EXPECT_EQ(harness_.Sent<PolicyAnswer>(1)[0].bindings[0].policy, PolicyVersion(2));
  EXPECT_EQ(harness_.Sent<PolicyAnswer>(1)[0].epoch, Epoch(2));
  EXPECT_THAT(harness_.Sent<KeysAssigned>(2), SizeIs(1));
}

TEST_F(SchedulerEpochTest, NobodyHearsOfAnEpochThatIsNotDurable) {
  harness_.persists = false;
  KillNode3();
  EXPECT_THAT(Begun(1), IsEmpty());
  harness_.PersistWaiting();
  EXPECT_THAT(Begun(1), SizeIs(1));
  harness_.ReportProgress({1, 2}, Round(1));
  EXPECT_THAT(Plans(1), IsEmpty());
  harness_.PersistWaiting();
  EXPECT_THAT(Plans(1), SizeIs(1));
}

TEST_F(SchedulerEpochTest, AllGoneTheJobWaitsForNodesToComeBack) {
  harness_.Advance(absl::Seconds(6));
  EXPECT_THAT(StatusOf(harness_), HasSubstr("hears none of its 3 members: is its own network down?"));
  EXPECT_TRUE(harness_.HasLog("the job waits: the scheduler hears none of its 3 members"));
  harness_.Receive(kOther, SchedulerHarness::JoinOf(2, 2));
  for (int i = 0; i < 8; ++i) {
    harness_.Advance(absl::Seconds(1));
    ASSERT_FALSE(harness_.Sent<EpochBegin>(kOther).empty());
    harness_.Receive(kOther, EpochReport{harness_.Sent<EpochBegin>(kOther).back().epoch, {}});
  }
  // Nobody holds anything of the rounds before.
  ASSERT_THAT(harness_.Sent<EpochPlan>(kOther), SizeIs(1));
  EXPECT_THAT(harness_.Sent<EpochPlan>(kOther)[0].frontiers, ElementsAre(EpochPlan::Frontier{key_, key_, Round(2)}));
  EXPECT_THAT(harness_.Sent<EpochPlan>(kOther)[0].bindings, IsEmpty());
}

TEST_F(SchedulerEpochTest, AnOrderDoesNotWaitForMembersThatNobodyHears) {
  harness_.Receive(kOperator, RemoveNode{"n2"});
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness_.BeginEpoch({1, 3});
  harness_.Advance(absl::Seconds(6));
  EXPECT_TRUE(harness_.HasLog("the job waits: the scheduler hears none of its 2 members"));
  harness_.ForgetSent();
  harness_.Receive(kOperator, Reconfigure{MeshYaml(3), "o.yaml"});
  harness_.Advance(absl::Seconds(2));
  const std::vector<OperatorReply> replies = harness_.Sent<OperatorReply>(kOperator);
  ASSERT_FALSE(replies.empty());
  EXPECT_TRUE(replies.back().accepted) << replies.back().text;
  EXPECT_THAT(replies.back().text, HasSubstr("may join again: n2"));
  // The node that comes in makes the job go on.
  harness_.Receive(2, SchedulerHarness::JoinOf(2, 2));
  for (int i = 0; i < 8; ++i) {
    harness_.Advance(absl::Seconds(1));
    ASSERT_FALSE(harness_.Sent<EpochBegin>(2).empty());
    harness_.Receive(2, EpochReport{harness_.Sent<EpochBegin>(2).back().epoch, {}});
  }
  EXPECT_THAT(harness_.Sent<EpochPlan>(2), SizeIs(1));
}

TEST_F(SchedulerEpochTest, WhoIsHeardAgainIsPlannedForAfterAnOrderInBetween) {
  harness_.Receive(kOperator, RemoveNode{"n2"});
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness_.BeginEpoch({1, 3});
  harness_.Advance(absl::Seconds(6));
  harness_.Receive(kOperator, Reconfigure{MeshYaml(3), "o.yaml"});
  harness_.Advance(absl::Seconds(2));
  EXPECT_THAT(Plans(1), IsEmpty());
  harness_.ReportProgress({1, 3}, Round(1));
  EXPECT_THAT(Plans(1), SizeIs(1));
}

TEST_F(SchedulerEpochTest, ACutLinkIsPlannedWithout) {
  harness_.Receive(1, PeerLost{NodeId(2), "silent for 5s"});
  harness_.Receive(2, PeerLost{NodeId(1), "silent for 5s"});
  harness_.Advance(absl::Seconds(4), {1, 2, 3});
  EXPECT_THAT(Begun(1), ElementsAre(EpochBegin{Term(1), Epoch(2), "n1 has lost its neighbour n2: silent for 5s"}));
  harness_.ReportProgress({1, 2, 3}, Round(1));
  ASSERT_THAT(Plans(3), SizeIs(1));
  ASSERT_THAT(harness_.Sent<PolicyPublished>(1), SizeIs(1));
  const PolicySlice slice = harness_.Sent<PolicyPublished>(1)[0].slice;
  EXPECT_EQ(slice.member_count, 3u);
  for (const NeighbourSlice& neighbour : slice.neighbours) EXPECT_EQ(neighbour.node, NodeId(3));
}

TEST_F(SchedulerEpochTest, ANodeThatNoOtherReachesFallsOutAndIsLetInWhenItsLinksAreTriedAgain) {
  harness_.Receive(1, PeerLost{NodeId(3), "silent for 5s"});
  harness_.Receive(2, PeerLost{NodeId(3), "silent for 5s"});
  harness_.Advance(absl::Seconds(4), {1, 2, 3});
  ASSERT_THAT(Begun(1), SizeIs(1));
  EXPECT_THAT(Begun(1)[0].reason, HasSubstr("n3 falls out: none of the links that lead to the other members works"));
  ASSERT_THAT(harness_.Sent<JoinRefused>(3), Not(IsEmpty()));
  EXPECT_TRUE(harness_.Sent<JoinRefused>(3)[0].fell_out);
  harness_.ReportProgress({1, 2}, Round(1));
  EXPECT_THAT(Plans(1), SizeIs(1)) << "the others go on";
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  harness_.Advance(absl::Seconds(4), {1, 2});
  EXPECT_THAT(Begun(1), SizeIs(1)) << "its links are still out";
  harness_.Advance(kFirstOutage, {1, 2});
  ASSERT_THAT(Begun(1), SizeIs(2));
  EXPECT_THAT(Begun(1)[1].reason, HasSubstr("n3 joins"));
  EXPECT_THAT(harness_.Sent<JoinAccepted>(kOther), SizeIs(1));
  ExpectNoFailure();
}

TEST_F(SchedulerEpochTest, AComplaintAboutASilentNodeIsTheNodesEnd) {
  harness_.Receive(1, PeerLost{NodeId(3), "silent for 5s"});
  harness_.Advance(absl::Seconds(6), {1, 2});
  ASSERT_THAT(Begun(1), SizeIs(1));
  EXPECT_EQ(Begun(1)[0].reason, "nothing heard from n3 for 5s");
}

TEST_F(SchedulerEpochTest, ANodeThatIsStoppedMayComeBackAsAnotherStart) {
  harness_.Receive(3, Leave{"it was stopped", true});
  harness_.BeginEpoch({1, 2});
  EXPECT_THAT(Begun(1), ElementsAre(EpochBegin{Term(1), Epoch(2), "n3 has left (it was stopped)"}));
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  harness_.BeginEpoch({1, 2});
  EXPECT_THAT(harness_.Sent<JoinAccepted>(kOther), SizeIs(1));
  ExpectNoFailure();
}

TEST_F(SchedulerEpochTest, AnOperatorRemovesANodeForGood) {
  harness_.Receive(kOperator, RemoveNode{"n9"});
  EXPECT_FALSE(harness_.Sent<OperatorReply>(kOperator)[0].accepted);
  harness_.Receive(kOperator, RemoveNode{"n3"});
  EXPECT_TRUE(harness_.Sent<OperatorReply>(kOperator)[1].accepted);
  harness_.BeginEpoch({1, 2});
  EXPECT_THAT(Begun(1), ElementsAre(EpochBegin{Term(1), Epoch(2), "an operator has removed n3"}));
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  ASSERT_THAT(harness_.Sent<JoinRefused>(kOther), SizeIs(1));
  EXPECT_THAT(harness_.Sent<JoinRefused>(kOther)[0].reason, HasSubstr("let it in again with `banyan reconfigure`"));
  // A restart of the scheduler knows it too.
  SchedulerHarness after(MeshOverlay(3), harness_.stored());
  after.Receive(3, SchedulerHarness::JoinOf(3, 3));
  EXPECT_THAT(after.Sent<JoinRefused>(3), SizeIs(1));
  harness_.Receive(kOperator, Reconfigure{MeshYaml(3), "o.yaml"});
  EXPECT_THAT(harness_.Sent<OperatorReply>(kOperator).back().text, HasSubstr("may join again: n3"));
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 4));
  harness_.BeginEpoch({1, 2});
  EXPECT_THAT(harness_.Sent<JoinAccepted>(kOther), SizeIs(1));
}

TEST_F(SchedulerEpochTest, AReconfigurationAddsANode) {
  harness_.Receive(kOther, SchedulerHarness::JoinOf(4));
  EXPECT_THAT(harness_.Sent<JoinRefused>(kOther), SizeIs(1));
  harness_.Receive(kOperator, Reconfigure{MeshYaml(4), "o.yaml"});
  ASSERT_THAT(harness_.Sent<OperatorReply>(kOperator), SizeIs(1));
  EXPECT_THAT(harness_.Sent<OperatorReply>(kOperator)[0].text, HasSubstr("nodes: n4 is new"));
  harness_.Receive(4, SchedulerHarness::JoinOf(4));
  harness_.BeginEpoch({1, 2, 3});
  ASSERT_THAT(harness_.Sent<JoinAccepted>(4), SizeIs(1));
  EXPECT_EQ(harness_.Sent<JoinAccepted>(4)[0].node, NodeId(4));
  harness_.ReportProgress({1, 2, 3, 4}, Round(1));
  EXPECT_EQ(harness_.Sent<PolicyPublished>(4).back().slice.member_count, 4u);
  // A restart with the file of before knows the node.
  SchedulerHarness after(MeshOverlay(3), harness_.stored());
  ASSERT_FALSE(after.stopped().has_value()) << *after.stopped();
  after.Receive(4, SchedulerHarness::JoinOf(4));
  EXPECT_THAT(after.Sent<JoinAccepted>(4), SizeIs(1));
  EXPECT_THAT(after.Sent<EpochPlan>(4), SizeIs(1));
}

TEST_F(SchedulerEpochTest, AReconfigurationWaitsForTheEpochAndIsPlannedForWithTheNext) {
  KillNode3();
  harness_.Receive(kOperator, Reconfigure{MeshYaml(3, "topology: {planner: star}\n"), "o.yaml"});
  EXPECT_THAT(harness_.Sent<OperatorReply>(kOperator), IsEmpty());
  harness_.ReportProgress({1, 2}, Round(1));
  ASSERT_THAT(harness_.Sent<OperatorReply>(kOperator), SizeIs(1));
  EXPECT_THAT(harness_.Sent<OperatorReply>(kOperator)[0].text, HasSubstr("topology.planner: packed -> star"));
}

TEST_F(SchedulerEpochTest, AReconfigurationThatHasNoPlanIsRefusedWhenTheEpochHasOneWithoutIt) {
  KillNode3();
  const std::string tree_without_n2 = "topology: {planner: custom, trees: [{root: n1, reduce: {n3: n1}}]}\n";
  harness_.Receive(kOperator, Reconfigure{MeshYaml(3, tree_without_n2), "o.yaml"});
  EXPECT_THAT(harness_.Sent<OperatorReply>(kOperator), IsEmpty()) << "it waits for the end of the change";
  harness_.Receive(3, SchedulerHarness::JoinOf(3, 2));
  harness_.BeginEpoch({1, 2});
  ASSERT_THAT(harness_.Sent<OperatorReply>(kOperator), SizeIs(1));
  EXPECT_FALSE(harness_.Sent<OperatorReply>(kOperator)[0].accepted);
  EXPECT_THAT(harness_.Sent<OperatorReply>(kOperator)[0].text, HasSubstr("there is no such plan"));
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.ReportProgress({3}, Round(0), 0);
  EXPECT_THAT(Plans(1), SizeIs(1));
}

TEST_F(SchedulerEpochTest, BarriersGoOnWithoutWhoFellOutAndAJoinerCountsFromItsFirst) {
  for (int node : {1, 2, 3}) harness_.Receive(node, BarrierEntered{0});
  for (int node : {1, 2}) harness_.Receive(node, BarrierEntered{1});
  EXPECT_THAT(harness_.Sent<BarrierReleased>(1), SizeIs(1));
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  harness_.BeginEpoch({1, 2});
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.Receive(kOther, EpochReport{Epoch(2), {}});
  // Others were waiting: the joiner is not awaited in that one.
  EXPECT_THAT(harness_.Sent<BarrierReleased>(1).back(), (BarrierReleased{Term(1), 1}));
  for (int node : {1, 2}) harness_.Receive(node, BarrierEntered{2});
  EXPECT_THAT(harness_.Sent<BarrierReleased>(1), SizeIs(2));
  harness_.Receive(kOther, BarrierEntered{0});
  EXPECT_THAT(harness_.Sent<BarrierReleased>(1).back(), (BarrierReleased{Term(1), 2}));
  EXPECT_THAT(harness_.Sent<BarrierReleased>(kOther), ElementsAre(BarrierReleased{Term(1), 0}));
}

TEST_F(SchedulerEpochTest, BroadcastsTakeTheirValuesFromTheMemberThatHasBeenThereLongest) {
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(1)});
  harness_.Receive(1, SchedulerHarness::JoinOf(1, 2));
  harness_.BeginEpoch({2, 3});
  harness_.ReportProgress({1, 2, 3}, Round(1));
  ASSERT_THAT(harness_.Sent<PolicyPublished>(3), SizeIs(1));
  EXPECT_EQ(harness_.Sent<PolicyPublished>(3)[0].slice.source, NodeId(2));
  harness_.Receive(3, WorkerLost{WorkerId(0), "it died"});
  harness_.Receive(2, WorkerLost{WorkerId(0), "it died"});
  harness_.BeginEpoch({1, 2, 3});
  EXPECT_THAT(Begun(3), SizeIs(2));
  harness_.ReportProgress({1, 2, 3}, Round(1));
  EXPECT_EQ(harness_.Sent<PolicyPublished>(3).back().slice.source, NodeId(1));
  ExpectNoFailure();
}

TEST_F(SchedulerEpochTest, ARestartGoesOnWithTheMembersOfTheLastEpoch) {
  KillNode3();
  harness_.ReportProgress({1, 2}, Round(1));
  SchedulerHarness after(MeshOverlay(3), harness_.stored());
  for (int node : {1, 2}) after.Receive(node, SchedulerHarness::JoinOf(node));
  ASSERT_THAT(after.Sent<EpochPlan>(1), SizeIs(1));
  EXPECT_EQ(after.Sent<EpochPlan>(1)[0].epoch, Epoch(2));
  EXPECT_EQ(after.Sent<EpochPlan>(1)[0].bindings, Plans(1)[0].bindings);
  after.Receive(3, SchedulerHarness::JoinOf(3));
  EXPECT_TRUE(after.Sent<JoinRefused>(3).at(0).fell_out);
  after.CloseRound(key_, Round(1), 2);
  EXPECT_THAT(after.Sent<ClosedEverywhere>(1), SizeIs(1));
}

TEST_F(SchedulerEpochTest, ARestartBeginsAChangeAnewThatWasUnderWay) {
  KillNode3();
  harness_.ReportProgress({1}, Round(1));
  SchedulerHarness after(MeshOverlay(3), harness_.stored());
  after.Receive(1, SchedulerHarness::JoinOf(1));
  ASSERT_THAT(after.Sent<EpochBegin>(1), SizeIs(1));
  EXPECT_EQ(after.Sent<EpochBegin>(1)[0].epoch, Epoch(3));
  EXPECT_THAT(after.Sent<EpochPlan>(1), IsEmpty());
  after.Receive(2, SchedulerHarness::JoinOf(2));
  after.ReportProgress({1, 2}, Round(2));
  ASSERT_THAT(after.Sent<EpochPlan>(2), SizeIs(1));
  EXPECT_THAT(after.Sent<EpochPlan>(2)[0].frontiers, ElementsAre(EpochPlan::Frontier{key_, key_, Round(2)}));
}

TEST_F(SchedulerEpochTest, AfterARestartMembersHaveTheirTimeToComeBack) {
  SchedulerHarness after(MeshOverlay(3), harness_.stored());
  after.Receive(1, SchedulerHarness::JoinOf(1));
  after.Receive(2, SchedulerHarness::JoinOf(2));
  after.Advance(absl::Milliseconds(4900), {1, 2});
  EXPECT_THAT(after.Sent<EpochBegin>(1), IsEmpty());
  after.Advance(absl::Seconds(1), {1, 2});
  EXPECT_THAT(after.Sent<EpochBegin>(1), SizeIs(1));
}

TEST_F(SchedulerEpochTest, AnotherNodeMayJoinWhileTheFirstRoundsRun) {
  SchedulerHarness late(MeshOverlay(3, "membership: {start_with: 2}\n"));
  late.StartJob(2);
  const KeyId key = late.AddKey("w", 10);
  late.Receive(3, SchedulerHarness::JoinOf(3));
  late.BeginEpoch({1, 2});
  EXPECT_EQ(late.Sent<EpochBegin>(1).at(0).reason, "n3 joins");
  late.ReportProgress({1, 2, 3}, Round(0));
  ASSERT_THAT(late.Sent<EpochPlan>(3), SizeIs(1));
  EXPECT_THAT(late.Sent<EpochPlan>(3)[0].frontiers, ElementsAre(EpochPlan::Frontier{key, key, Round(0)}));
}

class SchedulerOptimizerEpochTest : public SchedulerEpochTest {
 protected:
  SchedulerOptimizerEpochTest() : SchedulerEpochTest("aggregation: {op: adam}\n") {}
};

TEST_F(SchedulerOptimizerEpochTest, ANodeThatLacksTheParametersJoinsAndLearnsWhomToAsk) {
  KillNode3();
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  harness_.BeginEpoch({1, 2});
  harness_.ReportProgress({1, 2}, Round(2));
  harness_.Receive(kOther, EpochReport{Epoch(3), {}, true});
  ASSERT_THAT(harness_.Sent<EpochPlan>(kOther), SizeIs(1));
  harness_.Receive(kOther, StateWanted{0, true});
  ASSERT_THAT(harness_.Sent<StateHolders>(kOther), SizeIs(1));
  const StateHolders holders = harness_.Sent<StateHolders>(kOther)[0];
  EXPECT_TRUE(IsOfReplica(holders.transfer));
  const auto path_to = [](uint32_t node) { return std::vector<NodeId>{NodeId(3), NodeId(node)}; };
  EXPECT_THAT(holders.paths, ElementsAre(path_to(1), path_to(2)));
  EXPECT_THAT(harness_.Sent<StateSought>(1), IsEmpty()) << "nobody waits for it";
  // It holds the results of a round and cannot read them.
  harness_.Receive(1, Ask(key_, 2));
  harness_.Receive(kOther, RoundsClosed{{{key_, Round(2), 0}}});
  for (int node : {1, 2}) harness_.Receive(node, RoundsClosed{{{key_, Round(2), 77}}});
  EXPECT_THAT(harness_.Sent<ClosedEverywhere>(1), SizeIs(1));
  ExpectNoFailure();
}

TEST_F(SchedulerOptimizerEpochTest, WithoutAnybodyWhoHasTheParametersTheJobIsOver) {
  KillNode3();
  harness_.ReportProgress({1, 2}, Round(2));
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  harness_.BeginEpoch({1, 2});
  harness_.ReportProgress({1, 2}, Round(2));
  harness_.Receive(kOther, EpochReport{Epoch(3), {}, true});
  ExpectNoFailure();
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(1)});
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  for (int i = 0; i < 3; ++i) {
    harness_.Receive(kOther, Heartbeat{});
    harness_.Advance(absl::Seconds(1));
  }
  EXPECT_THAT(harness_.Sent<JobFailed>(kOther), IsEmpty()) << "it may have them by now";
  harness_.Receive(kOther, EpochReport{harness_.Sent<EpochBegin>(kOther).back().epoch, {}, true});
  ASSERT_THAT(harness_.Sent<JobFailed>(kOther), SizeIs(1));
  EXPECT_EQ(harness_.Sent<JobFailed>(kOther)[0].code, absl::StatusCode::kDataLoss);
  EXPECT_THAT(harness_.Sent<JobFailed>(kOther)[0].reason, HasSubstr("all members are gone that had the parameters"));
}

class SchedulerLeastEpochTest : public SchedulerEpochTest {
 protected:
  SchedulerLeastEpochTest() : SchedulerEpochTest("membership: {least: 3}\n") {}
};

TEST_F(SchedulerLeastEpochTest, WithTooFewMembersTrainingWaits) {
  KillNode3();
  harness_.ReportProgress({1, 2}, Round(1));
  EXPECT_THAT(Plans(1), IsEmpty());
  EXPECT_TRUE(
      harness_.HasLog("the job waits: of at least 3 members (membership.least) there are 2; these may come back: n3"));
  harness_.Advance(absl::Seconds(60), {1, 2});
  harness_.Receive(kOther, SchedulerHarness::JoinOf(3, 2));
  harness_.BeginEpoch({1, 2});
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.Receive(kOther, EpochReport{Begun(1).back().epoch, {}});
  EXPECT_THAT(Plans(1), SizeIs(1));
}

TEST_F(SchedulerLeastEpochTest, ARemovalThatLeavesTooFewCanBeUndone) {
  // The order comes before the epoch begins, or after it.
  for (const bool is_late : {false, true}) {
    SCOPED_TRACE(is_late);
    harness_.Receive(kOperator, RemoveNode{"n3"});
    harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
    if (is_late) harness_.BeginEpoch({1, 2});
    harness_.Receive(kOperator, Reconfigure{MeshYaml(3, "membership: {least: 3}\n"), "o.yaml"});
    if (!is_late) harness_.BeginEpoch({1, 2});
    const OperatorReply reply = harness_.Sent<OperatorReply>(kOperator).back();
    EXPECT_TRUE(reply.accepted) << reply.text;
    EXPECT_THAT(reply.text, HasSubstr("may join again: n3"));
    harness_.Receive(3, SchedulerHarness::JoinOf(3, is_late ? 3 : 2));
    harness_.BeginEpoch({1, 2});
    harness_.ReportProgress({1, 2}, Round(1));
    harness_.ReportProgress({3}, Round(0), 0);
    EXPECT_THAT(Plans(1), SizeIs(is_late ? 2 : 1));
  }
}

constexpr char kChain[] = "links:\n  - {between: [n1, n2], mbps: 10}\n  - {between: [n2, n3], mbps: 10}\n";

class SchedulerChainEpochTest : public SchedulerEpochTest {
 protected:
  SchedulerChainEpochTest() : SchedulerEpochTest(kChain) {}

  std::optional<OperatorReply> Reply() {
    const std::vector<OperatorReply> replies = harness_.Sent<OperatorReply>(kOperator);
    return replies.empty() ? std::nullopt : std::optional(replies.back());
  }
};

TEST_F(SchedulerChainEpochTest, WithoutAPlanTheChangeWaitsForTheMissingNode) {
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness_.Advance(absl::Milliseconds(2200), {1, 3});
  harness_.ReportProgress({1, 3}, Round(1));
  EXPECT_THAT(Plans(1), IsEmpty());
  EXPECT_TRUE(harness_.HasLog("epoch 2 waits, since there is no plan for its members"));
  ExpectNoFailure();
  harness_.Receive(2, SchedulerHarness::JoinOf(2, 2));
  harness_.BeginEpoch({1, 3});
  harness_.ReportProgress({1, 3}, Round(1));
  harness_.ReportProgress({2}, Round(0), 0);
  EXPECT_THAT(Plans(1), SizeIs(1));
}

TEST_F(SchedulerChainEpochTest, ARemovalThatLeavesNoPlanCanBeUndone) {
  harness_.Receive(kOperator, RemoveNode{"n2"});
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness_.BeginEpoch({1, 3});
  harness_.ReportProgress({1, 3}, Round(1));
  EXPECT_TRUE(harness_.HasLog("epoch 2 waits, since there is no plan for its members"));
  harness_.ForgetSent();
  harness_.Receive(kOperator, Reconfigure{MeshYaml(3, absl::StrCat(kChain, "topology: {planner: star}\n")), "o.yaml"});
  ASSERT_TRUE(Reply().has_value());
  EXPECT_TRUE(Reply()->accepted);
  EXPECT_THAT(Reply()->text, HasSubstr("no policy yet, since epoch 2 waits (the overlay is disconnected: "));
  EXPECT_THAT(Reply()->text, HasSubstr("topology.planner: packed -> star; may join again: n2"));
  // Whether the scheduler is restarted meanwhile or not.
  SchedulerHarness after(MeshOverlay(3, kChain), harness_.stored());
  EXPECT_TRUE(after.HasLog("the job goes on as it was reconfigured with o.yaml"));
  for (const int node : {1, 3}) after.Receive(node, SchedulerHarness::JoinOf(node));
  for (SchedulerHarness* const harness : {&harness_, &after}) {
    harness->Receive(2, SchedulerHarness::JoinOf(2, 2));
    harness->BeginEpoch({1, 3});
    harness->ReportProgress({1, 3}, Round(1));
    harness->ReportProgress({2}, Round(0), 0);
    ASSERT_THAT(harness->Sent<EpochPlan>(1), SizeIs(1));
    EXPECT_THAT(harness->Sent<PolicyPublished>(1).back().slice.trees, SizeIs(1)) << "of a star";
  }
}

TEST_F(SchedulerChainEpochTest, AnOrderThatComesWhileThePlanFailsIsAnswered) {
  harness_.computes = false;
  harness_.Receive(kOperator, RemoveNode{"n2"});
  harness_.BeginEpoch({1, 3});
  harness_.Receive(kOperator, Reconfigure{MeshYaml(3, kChain), "o.yaml"});
  // Which is read, while the plan for the epoch is made, and then the plans with it and without it.
  for (int i = 0; i < 4; ++i) harness_.ComputeWaiting();
  EXPECT_EQ(harness_.waiting_computations(), 0u);
  EXPECT_TRUE(Reply()->accepted) << Reply()->text;
  EXPECT_THAT(Reply()->text, HasSubstr("may join again: n2"));
}

TEST_F(SchedulerChainEpochTest, ALinkWithoutWhichNoPartIsTheGreaterOneIsTriedAgain) {
  harness_.Receive(kOperator, RemoveNode{"n3"});
  harness_.BeginEpoch({1, 2});
  harness_.ReportProgress({1, 2}, Round(1));
  harness_.ForgetSent();
  harness_.Receive(1, PeerLost{NodeId(2), "silent for 5s"});
  harness_.Advance(absl::Seconds(4), {1, 2});
  harness_.ReportProgress({1, 2}, Round(1));
  EXPECT_THAT(Plans(1), IsEmpty());
  harness_.Advance(absl::Seconds(5), {1, 2});
  EXPECT_THAT(Plans(1), SizeIs(1));
}

// The storage of the state stands for `stands` while node 3 is restarted.
class StandingStorageTest : public SchedulerEpochTest {
 protected:
  void RestartNode3(absl::Duration stands) {
    harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
    harness_.persists = false;
    harness_.Receive(3, SchedulerHarness::JoinOf(3, 2));
    harness_.Advance(stands, {1, 2});
    EXPECT_THAT(Begun(1), IsEmpty()) << "it is not durable";
    harness_.persists = true;
    harness_.PersistWaiting();
  }
};

TEST_F(StandingStorageTest, NobodyFallsOutForWhatCouldNotBeSent) {
  RestartNode3(absl::Seconds(30));
  EXPECT_THAT(Begun(1), SizeIs(1));
  EXPECT_THAT(harness_.Sent<JoinAccepted>(3), SizeIs(1)) << "until now it had no reason to say that it is there";
  harness_.Advance(absl::Seconds(4), {1, 2, 3});
  harness_.ReportProgress({1, 2}, Round(2));
  harness_.ReportProgress({3}, Round(0), 0);
  ASSERT_THAT(Plans(1), SizeIs(1));
  EXPECT_EQ(Plans(1)[0].epoch, Epoch(2));
  EXPECT_EQ(harness_.Sent<PolicyPublished>(1).back().slice.member_count, 3u);
  harness_.Advance(absl::Seconds(20), {1, 2, 3});
  EXPECT_THAT(Begun(1), SizeIs(1));
}

TEST_F(StandingStorageTest, WhoDoesNotAnswerAfterwardsFallsOut) {
  RestartNode3(absl::Seconds(6));
  harness_.Advance(absl::Milliseconds(4900), {1, 2, 3});
  EXPECT_THAT(Begun(1), SizeIs(1));
  harness_.ReportProgress({1}, Round(2));
  harness_.ReportProgress({3}, Round(0), 0);
  harness_.Advance(absl::Milliseconds(200), {1, 2, 3});
  ASSERT_THAT(Begun(1), SizeIs(2));
  EXPECT_EQ(Begun(1)[1].reason, "n2 has not said what it holds");
}

TEST_F(StandingStorageTest, IsToldToWhoeverWaits) {
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  harness_.persists = false;
  harness_.Receive(3, SchedulerHarness::JoinOf(3, 2));
  harness_.Advance(absl::Milliseconds(3000), {1, 2});
  EXPECT_FALSE(harness_.HasLog("has not been written")) << "a while is usual";
  EXPECT_THAT(StatusOf(harness_), HasSubstr(R"("storage":null)"));
  harness_.Advance(absl::Milliseconds(1100), {1, 2});
  EXPECT_TRUE(harness_.HasLog("the state has not been written for 3s: its storage is slow or stands"));
  EXPECT_THAT(StatusOf(harness_), HasSubstr(R"("storage":"the state has not been written for 4s)"));
  harness_.persists = true;
  harness_.PersistWaiting();
  EXPECT_TRUE(harness_.HasLog("the state is written again, after 4.05s"));
  EXPECT_THAT(StatusOf(harness_), HasSubstr(R"("storage":null)"));
}

}  // namespace
}  // namespace banyan
