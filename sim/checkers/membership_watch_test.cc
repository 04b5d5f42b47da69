#include "sim/checkers/membership_watch.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

const NodeId kA = NodeId(1);
const NodeId kB = NodeId(2);
const NodeId kC = NodeId(3);

class MembershipWatchTest : public testing::Test {
 protected:
  void Send(NodeId to, const Message& message) {
    watch_.OnSent({Timestamp(), kSchedulerNode, to, Channel::kControl, 1, 1, 64, message, Payload()});
  }
  // A policy of this epoch under a root.
  void Publish(NodeId to, uint64_t epoch, uint32_t members, NodeId root) {
    PolicyPublished published;
    published.slice.epoch = Epoch(epoch);
    published.slice.member_count = members;
    published.slice.trees.push_back({root, 1, {}, {}, {}, {}});
    Send(to, published);
  }
  void Plan(NodeId to, uint64_t epoch) {
    EpochPlan plan;
    plan.epoch = Epoch(epoch);
    Send(to, plan);
  }

  MembershipWatch watch_;
};

TEST_F(MembershipWatchTest, MembersAreThoseWhoWereSentAPolicyAndTheirNeighbours) {
  Publish(kA, 1, 3, kA);
  EXPECT_EQ(watch_.MembersOf(Epoch(1)), std::nullopt) << "one is not known yet";
  Publish(kB, 1, 3, kC);
  EXPECT_EQ(watch_.MembersOf(Epoch(1)), (std::set{kA, kB, kC}));
  EXPECT_TRUE(watch_.IsMember(kC, Epoch(1)));
  EXPECT_FALSE(watch_.IsMember(kC, Epoch(2)));
  EXPECT_EQ(watch_.JoinedIn(kB), Epoch(1));
  EXPECT_EQ(watch_.JoinedIn(kC), std::nullopt);
}

TEST_F(MembershipWatchTest, AStartThatJoinsLaterBelongsToNoEarlierEpoch) {
  Publish(kA, 1, 2, kB);
  Publish(kB, 1, 2, kB);
  EXPECT_EQ(watch_.StartsOf(kB), 0u);
  watch_.OnProcessStarted(Timestamp(), kB);
  EXPECT_EQ(watch_.StartsOf(kB), 1u);
  EXPECT_EQ(watch_.JoinedIn(kB), std::nullopt);
  Send(kA, EpochBegin{Term(1), Epoch(2), "node b has started anew"});
  Publish(kB, 1, 2, kB);
  EXPECT_EQ(watch_.JoinedIn(kB), std::nullopt) << "that policy is of an epoch before its own";
  Publish(kB, 2, 2, kB);
  Plan(kB, 2);
  EXPECT_EQ(watch_.JoinedIn(kB), Epoch(2));
  Publish(kB, 3, 2, kB);
  Plan(kB, 3);
  EXPECT_EQ(watch_.JoinedIn(kB), Epoch(2));
}

// Epochs began while the storage stood, and nobody has heard of them but by the number.
TEST_F(MembershipWatchTest, AStartThatJoinedInAnEpochThatNeverBeganForOthersBelongsToNoEarlierOne) {
  Publish(kA, 1, 2, kB);
  Publish(kB, 1, 2, kB);
  watch_.OnProcessStarted(Timestamp(), kB);
  MembershipUpdate update;
  update.epoch = Epoch(3);
  Send(kB, update);
  EXPECT_EQ(watch_.begun(), Epoch(3));
  Publish(kB, 1, 2, kB);
  EXPECT_EQ(watch_.JoinedIn(kB), std::nullopt);
  Plan(kB, 4);
  EXPECT_EQ(watch_.JoinedIn(kB), Epoch(4));
}

TEST_F(MembershipWatchTest, ItSaysWhetherMembersStayedTheSame) {
  for (const uint64_t epoch : {1, 2}) {
    Publish(kA, epoch, 2, kB);
    Publish(kB, epoch, 2, kB);
  }
  EXPECT_TRUE(watch_.HasSameMembersSince(Epoch(1)));
  Publish(kA, 3, 1, kA);
  EXPECT_FALSE(watch_.HasSameMembersSince(Epoch(1)));
  EXPECT_TRUE(watch_.HasSameMembersSince(Epoch(3)));
  EXPECT_EQ(watch_.epoch(), Epoch(3));
}

}  // namespace
}  // namespace banyan
