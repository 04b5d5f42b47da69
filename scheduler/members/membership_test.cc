#include "scheduler/members/membership.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Membership::Options TwoNodes() {
  Membership::Options options;
  options.job = "test";
  options.names = {"a", "b"};
  options.start_with = 2;
  options.heartbeat = absl::Seconds(1);
  options.lost_after = absl::Seconds(5);
  options.suspect_after = absl::Seconds(2);
  return options;
}

Join JoinOf(const std::string& name, uint64_t incarnation = 1) {
  Join join;
  join.name = name;
  join.address = "tcp://" + name + ":7701";
  join.incarnation = Incarnation(incarnation);
  return join;
}

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

bool IsNobody(const Member&) { return false; }
constexpr ConnectionId kFirst(11);
constexpr ConnectionId kSecond(12);

TEST(MembershipTest, GivesIdsByPosition) {
  Membership membership(TwoNodes());
  const JoinVerdict verdict = membership.Join(At(0), kFirst, JoinOf("b"));
  EXPECT_EQ(verdict.kind, JoinVerdict::Kind::kAccepted);
  EXPECT_EQ(verdict.node, NodeId(2));
  EXPECT_TRUE(verdict.new_incarnation);
  EXPECT_EQ(membership.NodeOn(kFirst), NodeId(2));
  EXPECT_THAT(membership.WaitingFor(), ElementsAre("a"));
  EXPECT_THAT(membership.Members(), ElementsAre(NodeId(2)));
  EXPECT_FALSE(membership.Join(At(0), kFirst, JoinOf("b")).new_incarnation);
  EXPECT_EQ(membership.joined(), 1u);
}

TEST(MembershipTest, ReconnectMovesTheConnection) {
  Membership membership(TwoNodes());
  membership.Join(At(0), kFirst, JoinOf("a"));
  EXPECT_EQ(membership.Join(At(1), kSecond, JoinOf("a")).kind, JoinVerdict::Kind::kAccepted);
  EXPECT_EQ(membership.NodeOn(kFirst), std::nullopt);
  EXPECT_EQ(membership.NodeOn(kSecond), NodeId(1));
  membership.Disconnect(kFirst);
  EXPECT_EQ(membership.NodeOn(kSecond), NodeId(1));
}

TEST(MembershipTest, AnotherIncarnationContestsThePlaceOfALiveOne) {
  Membership membership(TwoNodes());
  membership.Join(At(0), kFirst, JoinOf("a", 1));
  EXPECT_EQ(membership.Join(At(1), kSecond, JoinOf("a", 2)).kind, JoinVerdict::Kind::kContests);
  membership.Disconnect(kFirst);
  EXPECT_EQ(membership.Join(At(1), kSecond, JoinOf("a", 2)).kind, JoinVerdict::Kind::kAccepted);
  EXPECT_EQ(membership.joined(), 1u);
}

TEST(MembershipTest, RefusesMalformedAddresses) {
  for (const std::string address : {"", "tcp://", "tcp://host", "tcp://:1", "tcp://host:0", "tcp://host:65536",
                                    "tcp://host:1x", "tcp://a b:1", "udp://host:1", "tcp://host:+1"}) {
    Membership membership(TwoNodes());
    Join join = JoinOf("a");
    join.address = address;
    EXPECT_EQ(membership.Join(At(0), kFirst, join).kind, JoinVerdict::Kind::kRefused) << address;
  }
}

TEST(MembershipTest, SilenceIsNoticedOnceAndOnTime) {
  Membership membership(TwoNodes());
  membership.Join(At(0), kFirst, JoinOf("a"));
  membership.Join(At(0), kSecond, JoinOf("b"));
  membership.Hear(At(3), NodeId(1));
  EXPECT_EQ(membership.NextCheck(), At(5));
  EXPECT_THAT(membership.TakeSilent(At(5)), ElementsAre(NodeId(2)));
  EXPECT_EQ(membership.NextCheck(), At(8));
  EXPECT_THAT(membership.TakeSilent(At(8)), ElementsAre(NodeId(1)));
  EXPECT_THAT(membership.TakeSilent(At(20)), IsEmpty());
  EXPECT_EQ(membership.NextCheck(), kNever);
  EXPECT_TRUE(membership.Hear(At(21), NodeId(1)));
  EXPECT_FALSE(membership.Hear(At(21), NodeId(1)));
  EXPECT_EQ(membership.NextCheck(), At(26));
}

TEST(MembershipTest, OwnLatenessPostponesTheCheck) {
  Membership membership(TwoNodes());
  membership.Join(At(0), kFirst, JoinOf("a"));
  EXPECT_THAT(membership.TakeSilent(At(60)), IsEmpty());
  EXPECT_EQ(membership.NextCheck(), At(61));
  EXPECT_THAT(membership.TakeSilent(At(61)), ElementsAre(NodeId(1)));
}

class RunningMembershipTest : public testing::Test {
 protected:
  RunningMembershipTest() : membership_(TwoNodes()) {
    membership_.Join(At(0), kFirst, JoinOf("a", 1));
    membership_.Join(At(0), kSecond, JoinOf("b", 1));
    membership_.Start(Epoch(1));
  }

  JoinVerdict Join(double seconds, ConnectionId connection, uint64_t incarnation) {
    return membership_.Join(At(seconds), connection, JoinOf("a", incarnation));
  }

  static constexpr ConnectionId kThird = ConnectionId(13);
  Membership membership_;
};

TEST_F(RunningMembershipTest, AStartThatIsAMemberComesBackAtOnce) {
  membership_.Disconnect(kFirst);
  EXPECT_EQ(Join(1, kThird, 1).kind, JoinVerdict::Kind::kAccepted);
  EXPECT_EQ(membership_.NodeOn(kThird), NodeId(1));
}

TEST_F(RunningMembershipTest, AnotherStartContestsThePlaceOfAMemberThatIsHeard) {
  EXPECT_EQ(Join(1, kThird, 2).kind, JoinVerdict::Kind::kContests);
  EXPECT_EQ(Join(2, kThird, 2).kind, JoinVerdict::Kind::kWaits) << "not heard for suspect_after";
  membership_.Hear(At(2), NodeId(1));
  EXPECT_EQ(Join(3, kThird, 2).kind, JoinVerdict::Kind::kContests);
  membership_.Disconnect(kFirst);
  EXPECT_EQ(Join(3, kThird, 2).kind, JoinVerdict::Kind::kWaits);
  EXPECT_EQ(membership_.Find(NodeId(1)).incarnation, Incarnation(1)) << "nothing has changed";
}

TEST_F(RunningMembershipTest, WhoFellOutIsToldSoAndAnotherStartMayJoin) {
  membership_.Expel(NodeId(1));
  EXPECT_THAT(membership_.Members(), ElementsAre(NodeId(2)));
  EXPECT_TRUE(membership_.IsOfFallen(kFirst));
  EXPECT_EQ(membership_.NodeOn(kFirst), std::nullopt);
  const JoinVerdict fallen = Join(1, kThird, 1);
  EXPECT_EQ(fallen.kind, JoinVerdict::Kind::kRefused);
  EXPECT_TRUE(fallen.fell_out);
  EXPECT_EQ(Join(1, kThird, 2).kind, JoinVerdict::Kind::kWaits);
  membership_.Admit(At(1), kThird, JoinOf("a", 2), "", Epoch(2), 4);
  EXPECT_THAT(membership_.EpochMembers(), ElementsAre(EpochMember{NodeId(1), Incarnation(2), Epoch(2), 4},
                                                      EpochMember{NodeId(2), Incarnation(1), Epoch(1), 0}));
  EXPECT_EQ(membership_.NodeOn(kThird), NodeId(1));
  EXPECT_TRUE(Join(2, ConnectionId(14), 1).fell_out) << "the first start is remembered";
  membership_.Disconnect(kFirst);
  EXPECT_FALSE(membership_.IsOfFallen(kFirst));
}

TEST_F(RunningMembershipTest, WhoWasRemovedIsRefusedUntilItIsLetIn) {
  membership_.SetRemoved(NodeId(1), true);
  EXPECT_THAT(Join(1, kThird, 1).reason, HasSubstr("was removed from the job; let it in again with"));
  membership_.Expel(NodeId(1));
  EXPECT_TRUE(membership_.Find(NodeId(1)).is_removed);
  EXPECT_THAT(Join(1, kThird, 2).reason, HasSubstr("banyan reconfigure"));
  membership_.SetRemoved(NodeId(1), false);
  EXPECT_EQ(Join(1, kThird, 2).kind, JoinVerdict::Kind::kWaits);
}

TEST_F(RunningMembershipTest, WhoWasRemovedStaysSoWhateverElseHappensToIt) {
  membership_.SetRemoved(NodeId(1), true);
  membership_.Leave(NodeId(1), true);
  EXPECT_THAT(Join(1, kThird, 1).reason, HasSubstr("was removed from the job"));
  EXPECT_THAT(membership_.WaitingFor(), testing::IsEmpty());
  membership_.Expel(NodeId(1));
  EXPECT_THAT(Join(1, kThird, 2).reason, HasSubstr("was removed from the job"));
}

TEST_F(RunningMembershipTest, TheWorkIsDoneWhenAllHaveLeftUnasked) {
  membership_.Leave(NodeId(1), false);
  EXPECT_FALSE(membership_.AllLeft(IsNobody));
  EXPECT_EQ(Join(1, kThird, 1).kind, JoinVerdict::Kind::kAccepted) << "its connection may break";
  membership_.Leave(NodeId(2), true);
  EXPECT_FALSE(membership_.AllLeft(IsNobody)) << "somebody stopped it";
  membership_.Expel(NodeId(2));
  EXPECT_TRUE(membership_.AllLeft(IsNobody));
  membership_.Expel(NodeId(1));
  EXPECT_FALSE(membership_.AllLeft(IsNobody)) << "nobody is there to have left";
}

TEST_F(RunningMembershipTest, WhoOnlyHelpsIsNotWaitedFor) {
  const auto is_first = [](const Member& member) { return member.id == NodeId(1); };
  EXPECT_FALSE(membership_.AllLeft(is_first));
  membership_.Leave(NodeId(2), false);
  EXPECT_TRUE(membership_.AllLeft(is_first));
  membership_.Expel(NodeId(2));
  EXPECT_FALSE(membership_.AllLeft(is_first)) << "nobody has finished";
}

TEST_F(RunningMembershipTest, TakesNodesThatAreAdded) {
  membership_.AddNodes({"c"});
  EXPECT_EQ(membership_.FindByName("c"), NodeId(3));
  EXPECT_EQ(membership_.Join(At(1), kThird, JoinOf("c")).kind, JoinVerdict::Kind::kWaits);
  membership_.Admit(At(1), kThird, JoinOf("c"), "", Epoch(2), 0);
  EXPECT_THAT(membership_.TakeSilent(At(6)), ElementsAre(NodeId(1), NodeId(2), NodeId(3)));
}

TEST(MembershipTest, RestoredMembersAreExpectedBack) {
  Membership membership(TwoNodes());
  membership.Restore({NodeId(1), "a", "tcp://a:7701", Incarnation(4)}, false);
  membership.Restore({NodeId(2), "b", "tcp://b:7701", Incarnation(5)}, false);
  membership.RestoreStarted(At(0), {{NodeId(1), Incarnation(4), Epoch(1), 0}});
  EXPECT_EQ(membership.joined(), 0u);
  EXPECT_THAT(membership.WaitingFor(), ElementsAre("a"));
  const JoinVerdict back = membership.Join(At(1), kFirst, JoinOf("a", 4));
  EXPECT_EQ(back.kind, JoinVerdict::Kind::kAccepted);
  EXPECT_FALSE(back.new_incarnation);
  EXPECT_TRUE(membership.Join(At(1), kSecond, JoinOf("b", 5)).fell_out) << "it is known, and no member";
  EXPECT_EQ(membership.Join(At(1), kSecond, JoinOf("b", 6)).kind, JoinVerdict::Kind::kWaits);
  EXPECT_THAT(membership.TakeSilent(At(6)), ElementsAre(NodeId(1)));
}

TEST(MembershipTest, StartOfAnEndedJobCannotJoinAnother) {
  Membership membership(TwoNodes());
  membership.Restore({NodeId(1), "a", "tcp://a:7701", Incarnation(4)}, true);
  EXPECT_THAT(membership.Join(At(0), kFirst, JoinOf("a", 4)).reason, HasSubstr("restart the node"));
  EXPECT_EQ(membership.Join(At(0), kFirst, JoinOf("a", 5)).kind, JoinVerdict::Kind::kAccepted);
  EXPECT_EQ(membership.Join(At(0), kFirst, JoinOf("a", 5)).kind, JoinVerdict::Kind::kAccepted);
}

}  // namespace
}  // namespace banyan
