#include "sim/checkers/leader_checker.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

const NodeId kOther(9);

class LeaderCheckerTest : public testing::Test {
 protected:
  LeaderCheckerTest() : checker_({kSchedulerNode, kOther}, &violations_) { Start(kSchedulerNode); }

  void Start(NodeId scheduler) { checker_.OnProcessStarted(Timestamp(), scheduler); }
  void Send(const Message& message, NodeId from = kSchedulerNode) {
    checker_.OnSent({Timestamp(), from, NodeId(1), Channel::kControl, 1, 1, 64, message, no_payload_});
  }
  void SayTerm(uint64_t term, NodeId from = kSchedulerNode) { Send(HeartbeatReply{Term(term), Timestamp()}, from); }
  void Begin(uint64_t term, uint64_t epoch) { Send(EpochBegin{Term(term), Epoch(epoch), ""}); }
  void Plan(uint64_t term, uint64_t epoch) { Send(EpochPlan{Term(term), Epoch(epoch), PolicyVersion(1), {}, {}}); }

  Violations violations_;
  LeaderChecker checker_;

 private:
  const Payload no_payload_;
};

TEST_F(LeaderCheckerTest, LeadersThatFollowEachOtherPass) {
  Begin(1, 2);
  Plan(1, 2);
  Start(kOther);
  SayTerm(2, kOther);
  Start(kSchedulerNode);
  Plan(3, 2);
  Begin(3, 3);
  Begin(3, 3);
  Plan(3, 3);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(LeaderCheckerTest, NodesMaySayOldTerms) {
  SayTerm(2);
  Send(PeerHello{kProtocolVersion, "job", Term(1), NodeId(2), Incarnation(1)}, NodeId(2));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(LeaderCheckerTest, TermsNeverFall) {
  SayTerm(3);
  SayTerm(3);
  EXPECT_TRUE(violations_.empty());
  SayTerm(2);
  EXPECT_TRUE(violations_.Has("terms rise"));
}

TEST_F(LeaderCheckerTest, TwoSchedulersOfOneTermAreCaught) {
  SayTerm(3);
  SayTerm(3, kOther);
  EXPECT_TRUE(violations_.Has("one leader per term"));
}

TEST_F(LeaderCheckerTest, TwoStartsOfOneTermAreCaughtUnlessTheRecordsAreLost) {
  SayTerm(3);
  Start(kSchedulerNode);
  checker_.OnRecordsLost();
  SayTerm(3);
  EXPECT_TRUE(violations_.empty());
  Start(kSchedulerNode);
  SayTerm(3);
  EXPECT_TRUE(violations_.Has("one leader per term"));
}

TEST_F(LeaderCheckerTest, ManyStartsMaySayInOneTermThatTheJobIsOver) {
  for (int start = 0; start < 2; ++start) {
    Start(kSchedulerNode);
    Send(JoinRefused{Term(3), "the job is over", /*fell_out=*/false, /*job_is_over=*/true});
  }
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(LeaderCheckerTest, AnEpochThatIsBegunAnewIsCaught) {
  Begin(1, 2);
  Start(kSchedulerNode);
  Begin(2, 2);
  EXPECT_TRUE(violations_.Has("epochs rise"));
}

TEST_F(LeaderCheckerTest, AnEpochThatBeginsAfterItsPlanIsCaught) {
  Begin(1, 2);
  Plan(1, 2);
  EXPECT_TRUE(violations_.empty());
  Begin(1, 2);
  EXPECT_TRUE(violations_.Has("epochs rise"));
}

TEST_F(LeaderCheckerTest, WhatIsSaidOfAnOlderEpochIsCaught) {
  Begin(1, 2);
  Send(PolicyAnswer{Term(1), Epoch(1), {}});
  EXPECT_EQ(violations_.count(), 1);
  Plan(1, 1);
  EXPECT_EQ(violations_.count(), 2);
  EXPECT_TRUE(violations_.Has("epochs rise"));
}

}  // namespace
}  // namespace banyan
