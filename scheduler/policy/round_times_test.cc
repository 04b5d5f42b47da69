#include "scheduler/policy/round_times.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kElements = 1000;
const NodeId kA(1);
const NodeId kB(2);

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

class RoundTimesTest : public testing::Test {
 protected:
  RoundTimesTest() { times_.NoteAdopted(At(0), {kA, kB}, absl::ZeroDuration()); }

  // Both nodes tell of a round that ends now; `a` waits for it as long as the other and a second more.
  void RoundOf(double end, double seconds) {
    ++count_;
    times_.Accept(At(end), kA, {count_, kElements, absl::Seconds(seconds)}, kElements);
    times_.Accept(At(end), kB, {count_, kElements, absl::Seconds(seconds - 1)}, kElements);
  }

  RoundTimes times_;
  uint64_t count_ = 0;
};

TEST_F(RoundTimesTest, TheNodeThatWaitedLongestCounts) {
  EXPECT_EQ(times_.Last(At(0)), std::nullopt);
  RoundOf(10, 4);
  EXPECT_EQ(times_.Last(At(0)), absl::Seconds(4));
}

TEST_F(RoundTimesTest, RoundsThatBeganBeforeDoNotCount) {
  RoundOf(10, 4);
  EXPECT_EQ(times_.Last(At(6)), absl::Seconds(4));
  EXPECT_EQ(times_.Last(At(6.5)), std::nullopt);
}

TEST_F(RoundTimesTest, EveryMemberMustHaveTold) {
  times_.Accept(At(10), kA, {1, kElements, absl::Seconds(4)}, kElements);
  EXPECT_EQ(times_.Last(At(0)), std::nullopt);
}

TEST_F(RoundTimesTest, TheSameRoundIsToldTwiceAndCountsOnce) {
  RoundOf(10, 4);
  times_.Accept(At(20), kA, {1, kElements, absl::Seconds(4)}, kElements);
  times_.Accept(At(20), kB, {1, kElements, absl::Seconds(3)}, kElements);
  EXPECT_EQ(times_.Last(At(7)), std::nullopt);
}

TEST_F(RoundTimesTest, APartOfTheModelIsNoRound) {
  times_.Accept(At(10), kA, {1, kElements - 1, absl::Seconds(4)}, kElements);
  times_.Accept(At(10), kB, {1, kElements, absl::Seconds(4)}, kElements);
  EXPECT_EQ(times_.Last(At(0)), std::nullopt);
}

TEST_F(RoundTimesTest, RoundsOfAnotherPolicyDoNotCount) {
  RoundOf(10, 4);
  times_.NoteAdopted(At(7), {kA, kB}, absl::ZeroDuration());
  EXPECT_EQ(times_.Last(At(0)), std::nullopt);
}

TEST_F(RoundTimesTest, WithoutARoundThePredictionIsBelieved) {
  EXPECT_EQ(times_.Credible(absl::Seconds(9), At(0)), absl::Seconds(9));
}

TEST_F(RoundTimesTest, NoRoundIsCredibleThatTakesLongerThanRoundsTook) {
  RoundOf(10, 4);
  EXPECT_EQ(times_.Credible(absl::Seconds(9), At(5)), absl::Seconds(4));
  EXPECT_EQ(times_.Credible(absl::Seconds(3), At(5)), absl::Seconds(3));
}

// Rounds have always taken twice as long as predicted: when they still take 4 s, they would still be predicted at 2 s
// if the links were known well.
TEST_F(RoundTimesTest, WhatRoundsAlwaysTookLongerIsTakenOff) {
  RoundOf(10, 4);
  times_.Learn(absl::Seconds(2), At(5));
  RoundOf(20, 4);
  EXPECT_EQ(times_.Credible(absl::Seconds(3), At(11)), absl::Seconds(2));
}

TEST_F(RoundTimesTest, LinksThatAreSlowerMakePredictionsCredible) {
  RoundOf(10, 4);
  times_.Learn(absl::Seconds(2), At(5));
  RoundOf(20, 6);
  EXPECT_EQ(times_.Credible(absl::Seconds(3), At(11)), absl::Seconds(3));
}

TEST_F(RoundTimesTest, TheOverheadIsAMeanAndNeverBelowOne) {
  RoundOf(10, 4);
  times_.Learn(absl::Seconds(2), At(0));
  times_.Learn(absl::Seconds(8), At(0));
  EXPECT_EQ(times_.Credible(absl::Seconds(9), At(0)), absl::Seconds(4) / 1.5);
}

TEST_F(RoundTimesTest, AnotherPolicyHasAnotherOverhead) {
  RoundOf(10, 4);
  times_.Learn(absl::Seconds(2), At(0));
  times_.NoteAdopted(At(10), {kA, kB}, absl::ZeroDuration());
  RoundOf(20, 4);
  EXPECT_EQ(times_.Credible(absl::Seconds(9), At(11)), absl::Seconds(4));
}

// Rounds of 3 s where 2 s were promised: measurements that promise more are believed as little as those before were.
TEST_F(RoundTimesTest, BeforeAnyPlanningThePromiseIsWhatRoundsAreComparedWith) {
  times_.NoteAdopted(At(0), {kA, kB}, absl::Seconds(2));
  times_.NoteGoverning(At(0));
  for (const double end : {10, 20, 30}) RoundOf(end, end < 20 ? 6 : 3);
  EXPECT_EQ(times_.Credible(absl::Seconds(9), At(0)), absl::Seconds(2));
  times_.Learn(absl::Seconds(3), At(0));
  EXPECT_EQ(times_.Credible(absl::Seconds(9), At(0)), absl::Seconds(3) / 1.25);
}

TEST_F(RoundTimesTest, RoundsCountWhenThePolicyGovernsAllAndHasSettled) {
  RoundOf(9, 4);
  times_.NoteGoverning(At(10));
  EXPECT_TRUE(times_.Governed().empty());
  RoundOf(13, 4);  // began before
  RoundOf(18, 5);  // settles
  EXPECT_TRUE(times_.Governed().empty());
  RoundOf(22, 4);
  RoundOf(26, 3);
  EXPECT_EQ(times_.Governed(), absl::MakeConstSpan({absl::Seconds(4), absl::Seconds(3)}));
  EXPECT_EQ(times_.GovernedFor(At(26)), absl::Seconds(16));
  times_.NoteAdopted(At(30), {kA, kB}, absl::ZeroDuration());
  EXPECT_TRUE(times_.Governed().empty());
  EXPECT_EQ(times_.GovernedFor(At(31)), absl::ZeroDuration());
}

TEST_F(RoundTimesTest, TheLastGovernedRoundsAreKept) {
  times_.NoteGoverning(At(0));
  for (int round = 1; round < 100; ++round) RoundOf(2 * round, 1 + round / 100.0);
  EXPECT_EQ(times_.Governed().size(), 8u);
  EXPECT_EQ(times_.Governed().back(), absl::Seconds(1.99));
}

TEST_F(RoundTimesTest, CountsRoundsUnderAllPolicies) {
  EXPECT_EQ(times_.ended(), 0u);
  RoundOf(10, 4);
  times_.Accept(At(11), kA, {2, kElements, absl::Seconds(1)}, kElements);
  EXPECT_EQ(times_.ended(), 2u) << "another member may have no workers";
  times_.NoteAdopted(At(12), {kA, kB}, absl::ZeroDuration());
  times_.Accept(At(12), kB, {2, kElements, absl::Seconds(1)}, kElements);
  EXPECT_EQ(times_.ended(), 2u);
}

}  // namespace
}  // namespace banyan
