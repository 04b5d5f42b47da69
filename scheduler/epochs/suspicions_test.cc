#include "scheduler/epochs/suspicions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const NodeId kA(1);
const NodeId kB(2);

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

class SuspicionsTest : public testing::Test {
 protected:
  SuspicionsTest() : members_(Options()), suspicions_(&members_) {
    for (const char* name : {"a", "b"}) Connect(name, ConnectionId(name[0]));
    members_.Start(Epoch(1));
  }

  static Membership::Options Options() {
    Membership::Options options;
    options.names = {"a", "b"};
    options.start_with = 2;
    options.heartbeat = absl::Seconds(1);
    options.lost_after = absl::Seconds(5);
    options.suspect_after = absl::Seconds(2);
    return options;
  }
  void Connect(const std::string& name, ConnectionId connection, double seconds = 0) {
    Join join;
    join.name = name;
    join.address = "tcp://h:1";
    members_.Join(At(seconds), connection, join);
  }

  Membership members_;
  Suspicions suspicions_;
};

TEST_F(SuspicionsTest, AConnectionThatIsDownIsTheEndAfterAWhile) {
  EXPECT_EQ(suspicions_.NextDeadline(), kNever);
  members_.Disconnect(ConnectionId('a'));
  suspicions_.NoteDown(At(1), kA);
  EXPECT_EQ(suspicions_.NextDeadline(), At(3));
  members_.Hear(At(2), kB);
  EXPECT_THAT(suspicions_.Take(At(2)).fallen, IsEmpty());
  EXPECT_THAT(suspicions_.Take(At(3)).fallen, ElementsAre(testing::Pair(kA, "the connection of a went down")));
  EXPECT_EQ(suspicions_.NextDeadline(), kNever);
}

TEST_F(SuspicionsTest, WhoConnectsAgainIsCleared) {
  members_.Disconnect(ConnectionId('a'));
  suspicions_.NoteDown(At(1), kA);
  Connect("a", ConnectionId(7), 2);
  EXPECT_THAT(suspicions_.Take(At(3)).fallen, IsEmpty());
  EXPECT_EQ(suspicions_.NextDeadline(), kNever);
}

TEST_F(SuspicionsTest, WhileNobodyIsHeardNobodyIsGone) {
  members_.Disconnect(ConnectionId('a'));
  suspicions_.NoteDown(At(1), kA);
  EXPECT_FALSE(suspicions_.is_deaf());
  EXPECT_THAT(suspicions_.Take(At(3)).fallen, IsEmpty());
  EXPECT_TRUE(suspicions_.is_deaf());
  EXPECT_EQ(suspicions_.NextDeadline(), kNever);
  EXPECT_EQ(suspicions_.JudgedFrom(At(3)), At(8));
  members_.TakeSilent(At(5));
  suspicions_.NoteSilent(At(5), kB, "b is silent");
  EXPECT_THAT(suspicions_.Take(At(5)).fallen, IsEmpty());
}

TEST_F(SuspicionsTest, WhenOneIsHeardAgainTheOthersHaveTimeToComeBack) {
  members_.Disconnect(ConnectionId('a'));
  suspicions_.NoteDown(At(1), kA);
  suspicions_.Take(At(9));
  members_.Hear(At(10), kB);
  EXPECT_EQ(suspicions_.NextDeadline(), At(10));
  EXPECT_THAT(suspicions_.Take(At(10)).fallen, IsEmpty());
  EXPECT_FALSE(suspicions_.is_deaf());
  EXPECT_EQ(suspicions_.NextDeadline(), At(15)) << "lost_after later";
  EXPECT_EQ(suspicions_.JudgedFrom(At(11)), At(15));
  members_.Hear(At(15), kB);
  EXPECT_THAT(suspicions_.Take(At(15)).fallen, ElementsAre(testing::Pair(kA, "the connection of a went down")));
}

TEST_F(SuspicionsTest, ASilentMemberThatIsHeardAgainIsCleared) {
  members_.Hear(At(4), kB);
  ASSERT_THAT(members_.TakeSilent(At(5)), ElementsAre(kA));
  suspicions_.NoteSilent(At(5), kA, "a is silent");
  members_.Hear(At(5), kA);
  EXPECT_THAT(suspicions_.Take(At(5)).fallen, IsEmpty());
  EXPECT_EQ(suspicions_.NextDeadline(), kNever);
}

TEST_F(SuspicionsTest, WhenSomeHaveFinishedNobodyWaitsForTheLast) {
  members_.Leave(kB, /*is_asked_for=*/false);
  members_.Disconnect(ConnectionId('a'));
  suspicions_.NoteDown(At(1), kA);
  EXPECT_THAT(suspicions_.Take(At(3)).fallen, SizeIs(1));
}

TEST_F(SuspicionsTest, APlaceIsDefendedByTheNextWord) {
  suspicions_.NoteContest(At(1), kA);
  EXPECT_EQ(suspicions_.NextDeadline(), At(2)) << "suspect_after its last word";
  members_.Hear(At(1.5), kA);
  EXPECT_EQ(suspicions_.NextDeadline(), At(1.5));
  EXPECT_THAT(suspicions_.Take(At(1.5)).defended, ElementsAre(kA));
}

TEST_F(SuspicionsTest, APlaceIsLostBySilence) {
  suspicions_.NoteContest(At(1), kA);
  EXPECT_THAT(suspicions_.Take(At(2)).fallen, ElementsAre(testing::Pair(kA, "a has been restarted")));
}

TEST_F(SuspicionsTest, TwoWhoAreHeardAndDoNotHearEachOtherHaveLostTheirLink) {
  suspicions_.NoteComplaint(At(1), kB, kA, "b has lost a");
  suspicions_.NoteComplaint(At(1.1), kA, kB, "a has lost b");
  EXPECT_THAT(suspicions_.Take(At(2)).cuts, IsEmpty());
  for (const NodeId node : {kA, kB}) members_.Hear(At(2), node);
  EXPECT_THAT(suspicions_.Take(At(3)).cuts, ElementsAre(testing::Pair(std::pair(kA, kB), "b has lost a")));
  EXPECT_EQ(suspicions_.NextDeadline(), kNever) << "both complaints are of one cut";
}

TEST(SuspicionsOfThreeTest, AMemberThatNoNeighbourReachesLosesAllLinksAtOnce) {
  Membership::Options options;
  options.names = {"a", "b", "c"};
  options.start_with = 3;
  options.heartbeat = absl::Seconds(1);
  options.lost_after = absl::Seconds(5);
  options.suspect_after = absl::Seconds(2);
  Membership members(options);
  for (uint32_t node = 1; node <= 3; ++node) {
    Join join;
    join.name = options.names[node - 1];
    join.address = "tcp://h:1";
    members.Join(At(0), ConnectionId(node), join);
  }
  members.Start(Epoch(1));
  Suspicions suspicions(&members);
  const NodeId c(3);
  suspicions.NoteComplaint(At(1), kB, kA, "b has lost a");
  suspicions.NoteComplaint(At(1.9), c, kA, "c has lost a");
  suspicions.NoteComplaint(At(2.5), c, kB, "c has lost b");
  for (const NodeId node : {kA, kB, c}) members.Hear(At(2.6), node);
  EXPECT_THAT(suspicions.Take(At(3)).cuts, ElementsAre(testing::Pair(std::pair(kA, kB), "b has lost a"),
                                                       testing::Pair(std::pair(kA, c), "c has lost a")));
  EXPECT_EQ(suspicions.NextDeadline(), At(4.5)) << "the last one is too young";
}

TEST_F(SuspicionsTest, AComplaintAboutWhoIsNotHeardWaits) {
  suspicions_.NoteComplaint(At(1), kB, kA, "b has lost a");
  members_.Hear(At(2), kB);
  EXPECT_THAT(suspicions_.Take(At(3)).cuts, IsEmpty());
  EXPECT_EQ(suspicions_.NextDeadline(), At(5));
  members_.Expel(kA);
  EXPECT_THAT(suspicions_.Take(At(5)).cuts, IsEmpty());
  EXPECT_EQ(suspicions_.NextDeadline(), kNever);
}

TEST_F(SuspicionsTest, AnotherEpochBeginsWithoutComplaints) {
  suspicions_.NoteComplaint(At(1), kB, kA, "b has lost a");
  suspicions_.ForgetComplaints();
  EXPECT_EQ(suspicions_.NextDeadline(), kNever);
}

}  // namespace
}  // namespace banyan
