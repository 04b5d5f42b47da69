#include "scheduler/epochs/departure.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);
const NodeId kA(1);
const NodeId kB(2);
const PolicyRequest kRoundOne = {{{KeyId(1), Round(1)}}};

class DepartureTest : public testing::Test {
 protected:
  DepartureTest() : keys_(100), rounds_(&keys_, {"a", "b"}, absl::ZeroDuration(), 1), departure_(kPatience) {
    EXPECT_TRUE(keys_.Register({"w", 10}).ok());
    rounds_.UsePolicy(PolicyVersion(1), 2);
    a_.id = kA;
    a_.name = "a";
    a_.state = MemberState::kJoined;
  }

  Departure::Waits Waits() const { return {keys_, rounds_}; }

  // Why the job cannot go on when a's workers have pushed this round; "" when it can.
  std::string WhyStuck(uint64_t pushed) const {
    NodeReport report;
    report.progress.push_back({KeyId(1), Round(0), Round(pushed)});
    return departure_.WhyStuck(a_, &report, Waits()).value_or("");
  }

  void Leave() { ASSERT_TRUE(departure_.Note(Timestamp(), "b has left (done)")); }
  void WaitInVain() { ASSERT_TRUE(departure_.TakeDue(Timestamp() + kPatience)); }

  KeyTable keys_;
  JobRounds rounds_;
  Departure departure_;
  Member a_;
};

TEST_F(DepartureTest, NobodyIsStuckBeforeIt) {
  EXPECT_EQ(WhyStuck(1), "");
  EXPECT_EQ(departure_.NextDeadline(), kNever);
}

TEST_F(DepartureTest, TheFirstOneCounts) {
  Leave();
  EXPECT_FALSE(departure_.Note(Timestamp() + absl::Seconds(1), "a has left (too)"));
  EXPECT_EQ(departure_.NextDeadline(), Timestamp() + kPatience);
}

TEST_F(DepartureTest, APushedRoundWithoutAPolicyIsStuckAtOnce) {
  Leave();
  EXPECT_EQ(WhyStuck(1), "b has left (done): round 1 of key 'w', which a has pushed, cannot run");
}

TEST_F(DepartureTest, ARoundOfALeaseThatNobodyHasEndedIsStuckAtOnce) {
  rounds_.Request(Timestamp(), kA, kRoundOne);
  Leave();
  EXPECT_EQ(WhyStuck(1), "b has left (done): round 1 of key 'w', which a has pushed, cannot run");
}

TEST_F(DepartureTest, ARoundBeforeTheLastClosedOneHasTimeToEnd) {
  rounds_.Request(Timestamp(), kA, kRoundOne);
  rounds_.Request(Timestamp(), kA, {{{KeyId(1), Round(2)}}});
  for (const NodeId node : {kA, kB}) rounds_.Report(Timestamp(), node, {{{KeyId(1), Round(2), 7}}});
  Leave();
  EXPECT_EQ(WhyStuck(1), "");
  EXPECT_FALSE(departure_.TakeDue(Timestamp() + kPatience / 2));
  WaitInVain();
  EXPECT_EQ(WhyStuck(1), "b has left (done): round 1 of key 'w', which a has pushed, cannot run");
  EXPECT_FALSE(departure_.TakeDue(Timestamp() + 2 * kPatience)) << "it is due once";
}

TEST_F(DepartureTest, ARoundThatIsClosedOrNotPushedHurtsNobody) {
  rounds_.Request(Timestamp(), kA, {{{KeyId(1), Round(0)}}});
  for (const NodeId node : {kA, kB}) rounds_.Report(Timestamp(), node, {{{KeyId(1), Round(0), 7}}});
  Leave();
  WaitInVain();
  EXPECT_EQ(WhyStuck(0), "");
  EXPECT_EQ(departure_.WhyStuck(a_, nullptr, Waits()), std::nullopt) << "it has reported nothing";
}

TEST_F(DepartureTest, WhoHasLeftItselfIsNotStuck) {
  Leave();
  a_.state = MemberState::kLeft;
  EXPECT_EQ(WhyStuck(1), "");
}

}  // namespace
}  // namespace banyan
