#include "sim/checkers/policy_checker.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

class PolicyCheckerTest : public testing::Test {
 protected:
  PolicyCheckerTest() : checker_(2, &membership_, &violations_) {}

  void Send(NodeId from, NodeId to, const Message& message) {
    membership_.OnSent(MakeSent(from, to, message));
    checker_.OnSent(MakeSent(from, to, message));
  }
  void Deliver(NodeId from, const Message& message) { checker_.OnDelivered(MakeSent(from, kSchedulerNode, message)); }
  // Publishes and answers to a node.
  void Answer(NodeId to, uint64_t policy, uint64_t first_round = 1) {
    PolicyPublished published;
    published.slice.version = PolicyVersion(policy);
    Send(kSchedulerNode, to, published);
    PolicyAnswer answer;
    answer.bindings.push_back(
        {KeyId(1), Round(first_round), Round(first_round + 1), PolicyVersion(policy), Attempt(0)});
    Send(kSchedulerNode, to, answer);
  }
  static ChunkMessage Chunk(uint64_t policy, uint64_t round) {
    ChunkMessage chunk;
    chunk.id.key = KeyId(1);
    chunk.id.round = Round(round);
    chunk.policy = PolicyVersion(policy);
    chunk.route.path = {NodeId(1), NodeId(2)};
    return chunk;
  }

  Violations violations_;
  MembershipWatch membership_;
  PolicyChecker checker_;

 private:
  SentMessage MakeSent(NodeId from, NodeId to, const Message& message) {
    return {Timestamp(), from, to, Channel::kControl, from.value() * 10 + to.value(), 1, 64, message, no_payload_};
  }
  const Payload no_payload_;
};

TEST_F(PolicyCheckerTest, OnePolicyForAllPasses) {
  Answer(NodeId(1), 5);
  Answer(NodeId(2), 5);
  Send(NodeId(1), NodeId(2), Chunk(5, 1));
  Send(NodeId(2), NodeId(1), Chunk(5, 2));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(PolicyCheckerTest, TwoAnswersForARoundAreCaught) {
  Answer(NodeId(1), 5);
  Answer(NodeId(2), 6);
  EXPECT_TRUE(violations_.Has("one policy per round"));
}

TEST_F(PolicyCheckerTest, ACutNeedsThePromiseOfAll) {
  Answer(NodeId(1), 5);
  const CutBound bound = {Term(1), Epoch(), CutId(1), {{KeyId(1), Round(2)}}};
  for (const NodeId node : {NodeId(1), NodeId(2)}) Deliver(node, bound);
  Answer(NodeId(1), 6, 2);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Answer(NodeId(1), 7, 2);
  EXPECT_TRUE(violations_.Has("one policy per round"));
}

TEST_F(PolicyCheckerTest, AnotherRouteNeedsACutToo) {
  const auto answer = [this](NodeId node, uint64_t first, PrecisionRoute route) {
    PolicyAnswer said;
    said.bindings.push_back({KeyId(1), Round(first), Round(9), PolicyVersion(5), Attempt(0), 0, route});
    Send(kSchedulerNode, node, said);
  };
  Answer(NodeId(1), 5);
  answer(NodeId(1), 1, PrecisionRoute::kPlain);
  const CutBound bound = {Term(1), Epoch(), CutId(1), {{KeyId(1), Round(2)}}};
  for (const NodeId node : {NodeId(1), NodeId(2)}) Deliver(node, bound);
  answer(NodeId(1), 2, PrecisionRoute::kLowBit);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  answer(NodeId(1), 2, PrecisionRoute::kFallback);
  EXPECT_TRUE(violations_.Has("one policy per round"));
}

TEST_F(PolicyCheckerTest, ACutOfARoundThatAMemberHasBegunIsCaught) {
  Answer(NodeId(1), 5);
  Deliver(NodeId(1), CutBound{Term(1), Epoch(), CutId(1), {{KeyId(1), Round(1)}}});
  Deliver(NodeId(2), CutBound{Term(1), Epoch(), CutId(1), {{KeyId(1), Round(3)}}});
  Answer(NodeId(1), 6, 2);
  EXPECT_TRUE(violations_.Has("one policy per round"));
}

TEST_F(PolicyCheckerTest, AnAnswerBeforeItsPolicyIsCaught) {
  PolicyAnswer answer;
  answer.bindings.push_back({KeyId(1), Round(1), Round(1), PolicyVersion(5), Attempt(0)});
  Send(kSchedulerNode, NodeId(1), answer);
  EXPECT_TRUE(violations_.Has("one policy per round"));
}

TEST_F(PolicyCheckerTest, AChunkUnderAnotherPolicyOrNoneIsCaught) {
  Answer(NodeId(1), 5);
  Send(NodeId(1), NodeId(2), Chunk(4, 1));
  EXPECT_EQ(violations_.count(), 1);
  Send(NodeId(1), NodeId(2), Chunk(5, 3));
  EXPECT_EQ(violations_.count(), 2);
}

TEST_F(PolicyCheckerTest, PoliciesChangeBetweenRoundsAndAreRetiredWhenTheirRoundsAreClosed) {
  for (const NodeId node : {NodeId(1), NodeId(2)}) Answer(node, 5);
  for (const NodeId node : {NodeId(1), NodeId(2)}) {
    Answer(node, 6, 3);
    Deliver(node, RoundsClosed{{{KeyId(1), Round(1), 77}, {KeyId(1), Round(2), 77}}});
  }
  Send(kSchedulerNode, NodeId(1), PoliciesRetired{Term(), PolicyVersion(6)});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Answer(NodeId(1), 5, 7);
  EXPECT_TRUE(violations_.Has("retired policies"));
}

TEST_F(PolicyCheckerTest, APolicyThatIsRetiredBeforeItsRoundsAreClosedIsCaught) {
  Answer(NodeId(1), 5);
  Deliver(NodeId(1), RoundsClosed{{{KeyId(1), Round(1), 77}, {KeyId(1), Round(2), 77}}});
  Send(kSchedulerNode, NodeId(1), PoliciesRetired{Term(), PolicyVersion(6)});
  EXPECT_EQ(violations_.count(), 2);  // node 2 holds neither
  EXPECT_TRUE(violations_.Has("retired policies"));
}

TEST_F(PolicyCheckerTest, WhatAPlanHasClosedIsClosed) {
  EpochPlan plan;
  plan.epoch = Epoch(2);
  plan.frontiers.push_back({KeyId(1), KeyId(1), Round(4)});
  Send(kSchedulerNode, NodeId(1), plan);
  Send(kSchedulerNode, NodeId(1), ClosedEverywhere{Term(0), {{KeyId(1), Round(3)}}});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Send(kSchedulerNode, NodeId(1), ClosedEverywhere{Term(0), {{KeyId(1), Round(4)}}});
  EXPECT_TRUE(violations_.Has("closed everywhere"));
}

// The scheduler may know of a plan that nobody has been told of yet.
TEST_F(PolicyCheckerTest, BindingsAreVoidAsSoonAsAnotherEpochHasBegun) {
  Answer(NodeId(1), 5);
  Send(kSchedulerNode, NodeId(1), EpochBegin{Term(), Epoch(2), ""});
  Send(kSchedulerNode, NodeId(1), PoliciesRetired{Term(), PolicyVersion(6)});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(PolicyCheckerTest, ARoundIsOnlyClosedWhenAllHoldTheSame) {
  ClosedEverywhere closed;
  closed.entries.push_back({KeyId(1), Round(1)});
  Deliver(NodeId(1), RoundsClosed{{{KeyId(1), Round(1), 77}}});
  Send(kSchedulerNode, NodeId(1), closed);
  EXPECT_EQ(violations_.count(), 1);
  Deliver(NodeId(2), RoundsClosed{{{KeyId(1), Round(1), 77}}});
  Send(kSchedulerNode, NodeId(1), closed);
  EXPECT_EQ(violations_.count(), 1);
  Deliver(NodeId(2), RoundsClosed{{{KeyId(1), Round(1), 78}}});
  Send(kSchedulerNode, NodeId(1), closed);
  EXPECT_TRUE(violations_.Has("closed everywhere"));
}

// Two members, in epochs that the scheduler plans.
class EpochsOfPoliciesTest : public PolicyCheckerTest {
 protected:
  void Plan(uint64_t epoch, uint64_t policy, uint64_t first_open, const std::vector<uint32_t>& members) {
    for (const uint32_t node : members) {
      PolicyPublished published;
      published.slice.version = PolicyVersion(policy);
      published.slice.epoch = Epoch(epoch);
      published.slice.member_count = static_cast<uint32_t>(members.size());
      Send(kSchedulerNode, NodeId(node), published);
      EpochPlan plan;
      plan.epoch = Epoch(epoch);
      plan.policy = PolicyVersion(policy);
      plan.frontiers = {{KeyId(1), KeyId(1), Round(first_open)}};
      plan.bindings = {{KeyId(1), KeyId(1), Round(first_open), Round(first_open + 1), Attempt(epoch), 10}};
      Send(kSchedulerNode, NodeId(node), plan);
    }
  }
  void Report(uint32_t node, uint64_t epoch, uint64_t next) {
    Deliver(NodeId(node), EpochReport{Epoch(epoch), {{KeyId(1), KeyId(1), Round(next)}}});
  }
  void Close(uint64_t round, const std::vector<uint32_t>& holders) {
    for (const uint32_t node : holders) Deliver(NodeId(node), RoundsClosed{{{KeyId(1), Round(round), 7}}});
    Send(kSchedulerNode, NodeId(1), ClosedEverywhere{Term(0), {{KeyId(1), Round(round)}}});
  }
};

TEST_F(EpochsOfPoliciesTest, ARoundIsBoundAnewInEachEpochAndOnceInEach) {
  Answer(NodeId(1), 5);
  Answer(NodeId(2), 5);
  Plan(2, 6, 1, {1, 2});
  ChunkMessage chunk = Chunk(6, 1);
  chunk.id.epoch = Epoch(2);
  chunk.id.attempt = Attempt(2);
  Send(NodeId(1), NodeId(2), chunk);
  Send(NodeId(1), NodeId(2), Chunk(5, 1));  // who has not heard of the change yet
  chunk.kind = RoundKind::kAbstention;
  Send(NodeId(2), NodeId(1), chunk);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Plan(2, 7, 1, {1});
  EXPECT_TRUE(violations_.Has("one policy per round"));
}

TEST_F(EpochsOfPoliciesTest, AClosedRoundStaysClosed) {
  Plan(1, 5, 1, {1, 2});
  Close(1, {1, 2});
  Plan(2, 6, 2, {1, 2});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Plan(3, 7, 1, {1, 2});
  EXPECT_TRUE(violations_.Has("frontiers"));
}

TEST_F(EpochsOfPoliciesTest, APlanClosesOnlyWhatAllWhoWereThereHave) {
  Plan(1, 5, 1, {1, 2});
  Report(1, 2, 3);
  Report(2, 2, 2);
  Plan(2, 6, 2, {1, 2});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Report(1, 3, 3);
  Report(2, 3, 2);
  Plan(3, 7, 3, {1, 2});
  EXPECT_NE(violations_.Report().find("node 2 lacks key 1 round 2"), std::string::npos) << violations_.Report();
}

TEST_F(EpochsOfPoliciesTest, WhoeverJoinsOrFallsOutHoldsNothingUp) {
  Plan(1, 5, 1, {1, 2});
  membership_.OnProcessStarted(Timestamp(), NodeId(2));
  checker_.OnProcessStarted(Timestamp(), NodeId(2));
  Report(1, 2, 3);
  Report(2, 2, 0);
  Plan(2, 6, 3, {1, 2});
  Plan(3, 7, 3, {1});
  Close(3, {1});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(EpochsOfPoliciesTest, PoliciesOfEarlierEpochsAreRetiredAtOnce) {
  Plan(1, 5, 1, {1, 2});
  PolicyPublished published;
  published.slice.version = PolicyVersion(6);
  published.slice.epoch = Epoch(2);
  published.slice.member_count = 2;
  Send(kSchedulerNode, NodeId(1), published);
  Send(kSchedulerNode, NodeId(1), PoliciesRetired{Term(0), PolicyVersion(6)});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(EpochsOfPoliciesTest, WhatANodeHeldEndsWhenTheSchedulerHearsOfAnotherStart) {
  Plan(1, 5, 1, {1, 2});
  for (const uint64_t round : {1, 2}) Deliver(NodeId(2), RoundsClosed{{{KeyId(1), Round(round), 7}}});
  checker_.OnProcessStarted(Timestamp(), NodeId(2));
  Close(1, {1});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Send(kSchedulerNode, NodeId(2), JoinAccepted());
  Close(2, {1});
  EXPECT_TRUE(violations_.Has("closed everywhere"));
}

TEST_F(EpochsOfPoliciesTest, WhatOnlyThoseHeldWhoFellOutMayBeMadeAgain) {
  Plan(1, 5, 1, {1, 2});
  Deliver(NodeId(2), RoundsClosed{{{KeyId(1), Round(1), 8}}});
  Plan(2, 6, 1, {1});
  Close(1, {1});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(EpochsOfPoliciesTest, APlanMayCloseWhatAllHoldAndNobodyWasToldOf) {
  Plan(1, 5, 1, {1, 2});
  for (const uint32_t node : {1, 2}) Report(node, 2, 1);
  for (const uint32_t node : {1, 2}) Deliver(NodeId(node), RoundsClosed{{{KeyId(1), Round(1), 7}}});
  Plan(2, 6, 2, {1, 2});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(EpochsOfPoliciesTest, WhatAPlanClosesIsClosedForThoseWhoJoinWithIt) {
  Plan(1, 5, 1, {1, 2});
  Report(1, 2, 3);
  Report(2, 2, 3);
  Plan(2, 6, 3, {1, 2, 3});
  Close(2, {1});  // by one who says it again
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Close(3, {1, 2});
  EXPECT_TRUE(violations_.Has("closed everywhere"));
}

TEST_F(EpochsOfPoliciesTest, WhatAPlanHasClosedNoOtherBindsAnew) {
  Plan(1, 5, 1, {1, 2});
  Report(1, 2, 3);
  Report(2, 2, 3);
  Plan(2, 6, 3, {1, 2});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Plan(3, 7, 2, {1, 2});
  EXPECT_TRUE(violations_.Has("frontiers"));
}

TEST_F(EpochsOfPoliciesTest, PoliciesOfAnEpochThatIsOverMayBeRetiredBeforeTheNextOneIsSent) {
  Plan(1, 5, 1, {1, 2});
  Send(kSchedulerNode, NodeId(1), EpochBegin{Term(0), Epoch(2), ""});
  Send(kSchedulerNode, NodeId(1), PoliciesRetired{Term(1), PolicyVersion(6)});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

}  // namespace
}  // namespace banyan
