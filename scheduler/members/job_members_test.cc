#include "scheduler/members/job_members.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(JobMembersTest, ANodeHearsOfItsJoinWhenItIsDurable) {
  MeshJob mesh(2);
  mesh.persists = false;
  mesh.JoinAll();
  EXPECT_THAT(mesh.Sent<JoinAccepted>(1), IsEmpty());
  ASSERT_THAT(mesh.Records(), SizeIs(2));
  EXPECT_EQ(std::get<NodeRecord>(mesh.Records()[0]),
            (NodeRecord{NodeId(1), "n1", "tcp://10.0.0.1:7701", Incarnation(1)}));
  mesh.persists = true;
  ASSERT_THAT(mesh.Sent<JoinAccepted>(2), SizeIs(1));
  EXPECT_EQ(mesh.Sent<JoinAccepted>(2)[0].node, NodeId(2));
  EXPECT_TRUE(mesh.Sent<JoinAccepted>(2)[0].is_first_join);
  ASSERT_THAT(mesh.Sent<MembershipUpdate>(2), SizeIs(1));
  EXPECT_EQ(mesh.Sent<MembershipUpdate>(2)[0].joined, 2u);
}

TEST(JobMembersTest, ANodeThatComesBackIsWelcomedWithoutARecord) {
  MeshJob mesh(2);
  mesh.JoinAll();
  mesh.Forget();
  const JoinVerdict verdict = mesh.members.Join(MeshConnection(7), MeshJoin(1));
  EXPECT_EQ(verdict.kind, JoinVerdict::Kind::kAccepted);
  EXPECT_FALSE(verdict.new_incarnation);
  ASSERT_THAT(mesh.Sent<JoinAccepted>(7), SizeIs(1));
  EXPECT_FALSE(mesh.Sent<JoinAccepted>(7)[0].is_first_join);
  EXPECT_THAT(mesh.Records(), SizeIs(2));
  EXPECT_TRUE(mesh.HasLog("n1 is back from tcp://10.0.0.1:7701"));
}

TEST(JobMembersTest, RefusesAStrangerAndCountsIt) {
  MeshJob mesh(2);
  EXPECT_EQ(mesh.members.Join(MeshConnection(3), MeshJoin(3)).kind, JoinVerdict::Kind::kRefused);
  ASSERT_THAT(mesh.Sent<JoinRefused>(3), SizeIs(1));
  EXPECT_THAT(mesh.Sent<JoinRefused>(3)[0].reason, HasSubstr("has no node named 'n3'"));
  EXPECT_EQ(mesh.context.rejections.count(), 1u);
}

TEST(JobMembersTest, NodesHearOfTheMembersOfAJobThatRuns) {
  MeshJob mesh(2);
  mesh.JoinAll();
  EXPECT_THAT(mesh.Sent<MembershipUpdate>(1).back().members, IsEmpty());
  mesh.Start();
  mesh.members.SendUpdate();
  EXPECT_THAT(mesh.Sent<MembershipUpdate>(1).back().members, ElementsAre(JobMember{"n1", 1}, JobMember{"n2", 1}));
  mesh.members.Expel(NodeId(1));
  mesh.members.SendUpdate();
  EXPECT_THAT(mesh.Sent<MembershipUpdate>(2).back().members, ElementsAre(JobMember{"n2", 1}));
}

TEST(JobMembersTest, WhoJoinsARunningJobHearsOfItWithTheNextEpoch) {
  MeshJob mesh(2);
  mesh.Start();
  mesh.members.Disconnect(MeshConnection(1));
  EXPECT_EQ(mesh.members.Join(MeshConnection(7), MeshJoin(1, 2)).kind, JoinVerdict::Kind::kWaits);
  EXPECT_THAT(mesh.Sent<JoinRefused>(7), IsEmpty());
  EXPECT_THAT(mesh.Sent<JoinAccepted>(7), IsEmpty());
  mesh.members.Expel(NodeId(1));
  EXPECT_TRUE(mesh.members.Admit(NodeId(1), Epoch(2), 3));
  EXPECT_EQ(std::get<NodeRecord>(mesh.Records().back()).incarnation, Incarnation(2));
  mesh.members.Welcome(NodeId(1));
  ASSERT_THAT(mesh.Sent<JoinAccepted>(7), SizeIs(1));
  EXPECT_TRUE(mesh.Sent<JoinAccepted>(7)[0].is_first_join);
  EXPECT_FALSE(mesh.members.Admit(NodeId(1), Epoch(2), 3)) << "it waits no more";
}

TEST(JobMembersTest, ThoseWhoWaitMayBeRefused) {
  MeshJob mesh(2);
  mesh.Start();
  mesh.members.Disconnect(MeshConnection(1));
  mesh.members.Join(MeshConnection(7), MeshJoin(1, 2));
  EXPECT_EQ(mesh.members.Join(MeshConnection(8), MeshJoin(1, 3)).kind, JoinVerdict::Kind::kWaits);
  EXPECT_THAT(mesh.Sent<JoinRefused>(8), IsEmpty()) << "it may have been restarted twice";
  mesh.members.RefuseWaiting(NodeId(1), "not now");
  for (const int connection : {7, 8}) {
    EXPECT_THAT(mesh.Sent<JoinRefused>(connection), ElementsAre(JoinRefused{mesh.job.term(), "not now", false}));
  }
}

TEST(JobMembersTest, OfManyStartsThatWaitTheOldestIsRefused) {
  MeshJob mesh(2);
  mesh.Start();
  mesh.members.Disconnect(MeshConnection(1));
  for (int start = 0; start <= static_cast<int>(kMostWaitingStarts); ++start) {
    mesh.members.Join(MeshConnection(10 + start), MeshJoin(1, static_cast<uint64_t>(2 + start)));
  }
  ASSERT_THAT(mesh.Sent<JoinRefused>(10), SizeIs(1));
  EXPECT_THAT(mesh.Sent<JoinRefused>(10)[0].reason, HasSubstr("nodes named 'n1' are joining"));
  EXPECT_EQ(mesh.members.waiting().size(), kMostWaitingStarts);
}

TEST(JobMembersTest, WhoContestsAPlaceHearsOfBothAddresses) {
  MeshJob mesh(2);
  mesh.Start();
  mesh.members.NoteOrigin({MeshConnection(7), "10.9.9.9", ""});
  Join thief = MeshJoin(1, 2);
  thief.address = "tcp://10.9.9.9:7701";
  EXPECT_EQ(mesh.members.Join(MeshConnection(7), thief).kind, JoinVerdict::Kind::kContests);
  mesh.members.RefuseContesters(NodeId(1));
  ASSERT_THAT(mesh.Sent<JoinRefused>(7), SizeIs(1));
  EXPECT_EQ(mesh.Sent<JoinRefused>(7)[0].reason,
            "node 'n1' has joined from tcp://10.0.0.1:7701 and is alive, and another node of that name comes from "
            "tcp://10.9.9.9:7701 (host 10.9.9.9); is its key in two places? Give each node its own name and key");
}

TEST(JobMembersTest, TheOriginOfANodeOutlivesThoseOfACrowd) {
  MeshJob mesh(2);
  mesh.overlay.nodes[0].public_key = "first";
  mesh.members.NoteOrigin({MeshConnection(1), "10.0.0.1", "first"});
  mesh.members.Join(MeshConnection(1), MeshJoin(1));
  for (int other = 100; other < 4300; ++other) mesh.members.NoteOrigin({MeshConnection(other), "10.0.0.9", "other"});
  EXPECT_FALSE(mesh.Closed(1));
  EXPECT_TRUE(mesh.Closed(100)) << "a connection without an origin would have no key that could be judged";
  EXPECT_FALSE(mesh.Closed(4299));
}

TEST(JobMembersTest, AStartThatFellOutIsToldSoWhateverItSays) {
  MeshJob mesh(2);
  mesh.Start();
  EXPECT_FALSE(mesh.members.AnswerFallen(MeshConnection(1)));
  mesh.members.Expel(NodeId(1));
  EXPECT_TRUE(mesh.members.AnswerFallen(MeshConnection(1)));
  ASSERT_THAT(mesh.Sent<JoinRefused>(1), SizeIs(1));
  EXPECT_TRUE(mesh.Sent<JoinRefused>(1)[0].fell_out);
}

TEST(JobMembersTest, AfterAFailureMembersAreToldAndStrangersRefused) {
  MeshJob mesh(2);
  mesh.members.Join(MeshConnection(1), MeshJoin(1));
  mesh.job.Fail(absl::UnavailableError("a disk"), false);
  mesh.Forget();
  EXPECT_EQ(mesh.members.Join(MeshConnection(7), MeshJoin(1)).kind, JoinVerdict::Kind::kAccepted);
  EXPECT_THAT(mesh.Sent<JobFailed>(7), ElementsAre(mesh.job.MakeJobFailed()));
  EXPECT_THAT(mesh.Sent<MembershipUpdate>(7), IsEmpty());
  EXPECT_EQ(mesh.members.Join(MeshConnection(2), MeshJoin(2)).kind, JoinVerdict::Kind::kRefused);
  EXPECT_EQ(mesh.Sent<JoinRefused>(2)[0].reason, "job failed: a disk; restart the job");
}

TEST(JobMembersTest, ChangesThatFollowEachOtherAreToldTogether) {
  MeshJob mesh(2);
  mesh.JoinAll();
  mesh.Forget();
  mesh.members.ScheduleUpdate();
  mesh.context.now = mesh.context.now + kMembershipBatch / 2;
  mesh.members.ScheduleUpdate();
  mesh.members.SendDueUpdate();
  EXPECT_THAT(mesh.Sent<MembershipUpdate>(1), IsEmpty());
  EXPECT_EQ(mesh.members.NextDeadline(), Timestamp() + kMembershipBatch);
  mesh.context.now = Timestamp() + kMembershipBatch;
  mesh.members.SendDueUpdate();
  for (const int node : {1, 2}) EXPECT_THAT(mesh.Sent<MembershipUpdate>(node), SizeIs(1));
  mesh.members.SendDueUpdate();
  EXPECT_THAT(mesh.Sent<MembershipUpdate>(1), SizeIs(1));
}

TEST(JobMembersTest, NamesThoseWhoFallSilent) {
  MeshJob mesh(3);
  mesh.JoinAll();
  for (int second = 1; second <= 5; ++second) {
    mesh.context.now = Timestamp() + absl::Seconds(second);
    mesh.members.Hear(NodeId(2));
    if (second < 5) {
      EXPECT_THAT(mesh.members.TakeSilent(), IsEmpty());
    }
  }
  const std::vector<NodeId> silent = mesh.members.TakeSilent();
  EXPECT_THAT(silent, ElementsAre(NodeId(1), NodeId(3)));
  EXPECT_EQ(mesh.members.DescribeSilence(silent), "nothing heard from n1, n3 for 5s");
  EXPECT_TRUE(mesh.members.Hear(NodeId(1)));
  EXPECT_FALSE(mesh.members.Hear(NodeId(2)));
}

TEST(JobMembersTest, TheStartIsToldAtOnce) {
  MeshJob mesh(2);
  mesh.JoinAll();
  mesh.Forget();
  mesh.members.ScheduleUpdate();
  mesh.job.Run();
  mesh.members.Start();
  mesh.members.SendUpdate();
  ASSERT_THAT(mesh.Sent<MembershipUpdate>(1), SizeIs(1));
  EXPECT_TRUE(mesh.Sent<MembershipUpdate>(1)[0].started);
  mesh.context.now = Timestamp() + absl::Seconds(1);
  mesh.members.SendDueUpdate();
  EXPECT_THAT(mesh.Sent<MembershipUpdate>(1), SizeIs(1)) << "the scheduled update has nothing more to tell";
}

TEST(JobMembersTest, AHeartbeatIsAnsweredWhileRecordsWait) {
  MeshJob mesh(2);
  mesh.JoinAll();
  mesh.Forget();
  mesh.persists = false;
  mesh.context.Persist(BarrierRecord{0, {}});
  mesh.members.AnswerHeartbeat(NodeId(1), Heartbeat{Timestamp() + absl::Seconds(3)});
  mesh.members.SendTo(NodeId(1), BarrierReleased{Term(0), 0});
  ASSERT_THAT(mesh.Sent<HeartbeatReply>(1), SizeIs(1));
  EXPECT_THAT(mesh.Sent<BarrierReleased>(1), IsEmpty());
}

TEST(JobMembersTest, RejectionsNameTheNode) {
  MeshJob mesh(2);
  mesh.members.Reject(NodeId(2), "nonsense");
  EXPECT_TRUE(mesh.HasLog("from n2: nonsense"));
  EXPECT_EQ(mesh.context.rejections.count(), 1u);
}

}  // namespace
}  // namespace banyan
