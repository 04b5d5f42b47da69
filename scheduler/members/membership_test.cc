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

TEST(MembershipTest, AnotherLiveIncarnationIsRefused) {
  Membership membership(TwoNodes());
  membership.Join(At(0), kFirst, JoinOf("a", 1));
  EXPECT_THAT(membership.Join(At(1), kSecond, JoinOf("a", 2)).reason, HasSubstr("another node named 'a'"));
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

TEST(MembershipTest, MembersAreFixedByTheStart) {
  Membership::Options options = TwoNodes();
  options.start_with = 1;
  Membership membership(options);
  membership.Join(At(0), kFirst, JoinOf("a", 1));
  membership.Start();
  EXPECT_THAT(membership.Join(At(1), kSecond, JoinOf("b")).reason, HasSubstr("has started without node 'b'"));
  membership.Disconnect(kFirst);
  // As long as it is not silent another start may be anybody's.
  const JoinVerdict early = membership.Join(At(1), kSecond, JoinOf("a", 2));
  EXPECT_EQ(early.kind, JoinVerdict::Kind::kRefused);
  EXPECT_THAT(early.reason, HasSubstr("node 'a' is a member of the running job in another start of it, heard 1s ago"));
  const JoinVerdict restarted = membership.Join(At(5), kSecond, JoinOf("a", 2));
  EXPECT_EQ(restarted.kind, JoinVerdict::Kind::kMemberRestarted);
  EXPECT_EQ(restarted.node, NodeId(1));
  membership.Join(At(1), kSecond, JoinOf("a", 1));
  membership.Leave(NodeId(1));
  EXPECT_TRUE(membership.AllLeft());
  EXPECT_EQ(membership.Join(At(2), kFirst, JoinOf("a", 1)).kind, JoinVerdict::Kind::kAccepted);
  EXPECT_TRUE(membership.AllLeft());
  EXPECT_THAT(membership.Join(At(2), kFirst, JoinOf("a", 3)).reason, HasSubstr("has left the job"));
}

TEST(MembershipTest, RestoredMembersAreExpectedBack) {
  Membership membership(TwoNodes());
  membership.Restore(NodeId(1), "tcp://a:7701", Incarnation(4), false);
  membership.Restore(NodeId(2), "tcp://b:7701", Incarnation(5), false);
  membership.RestoreStarted(At(0), {NodeId(1), NodeId(2)});
  EXPECT_EQ(membership.joined(), 0u);
  EXPECT_THAT(membership.WaitingFor(), ElementsAre("a", "b"));
  const JoinVerdict back = membership.Join(At(1), kFirst, JoinOf("a", 4));
  EXPECT_EQ(back.kind, JoinVerdict::Kind::kAccepted);
  EXPECT_FALSE(back.new_incarnation);
  EXPECT_EQ(membership.Join(At(1), kSecond, JoinOf("b", 6)).kind, JoinVerdict::Kind::kRefused);
  EXPECT_THAT(membership.TakeSilent(At(5)), ElementsAre(NodeId(2)));
}

TEST(MembershipTest, StartOfAnEndedJobCannotJoinAnother) {
  Membership membership(TwoNodes());
  membership.Restore(NodeId(1), "tcp://a:7701", Incarnation(4), true);
  EXPECT_THAT(membership.Join(At(0), kFirst, JoinOf("a", 4)).reason, HasSubstr("restart the node"));
  EXPECT_EQ(membership.Join(At(0), kFirst, JoinOf("a", 5)).kind, JoinVerdict::Kind::kAccepted);
  EXPECT_EQ(membership.Join(At(0), kFirst, JoinOf("a", 5)).kind, JoinVerdict::Kind::kAccepted);
}

}  // namespace
}  // namespace banyan
