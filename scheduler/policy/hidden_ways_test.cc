#include <initializer_list>

#include "gtest/gtest.h"
#include "scheduler/policy/replanner.h"

namespace banyan {
namespace {

class HiddenWaysTest : public testing::Test {
 protected:
  // Rounds that take these seconds, where 4 were promised.
  void RunRounds(std::initializer_list<double> seconds) {
    for (const double took : seconds) ways_.OnRound(++ended_, absl::Seconds(took), absl::Seconds(4));
  }

  HiddenWays ways_;
  uint64_t ended_ = 0;
};

TEST_F(HiddenWaysTest, RoundsAboutAsPromisedLeaveNothingToLookFor) {
  RunRounds({20, 9, 4.7, 6, 4, 6, 4.7});
  EXPECT_FALSE(ways_.are_suspected()) << "one slow round may be anything";
}

TEST_F(HiddenWaysTest, ABrokenPromiseOfLinksThatAreKnownMakesThemSuspected) {
  RunRounds({20, 9, 8});
  EXPECT_FALSE(ways_.are_suspected());
  RunRounds({7, 6.5});
  EXPECT_FALSE(ways_.are_suspected()) << "each is still faster than all before";
  RunRounds({6.4});
  EXPECT_FALSE(ways_.are_suspected());
  RunRounds({6.4});
  EXPECT_TRUE(ways_.are_suspected());
}

TEST_F(HiddenWaysTest, APlanThatPromisesNothingBreaksNoPromise) {
  for (uint64_t ended = 1; ended < 10; ++ended) ways_.OnRound(ended, absl::Seconds(9), absl::ZeroDuration());
  EXPECT_FALSE(ways_.are_suspected());
}

TEST_F(HiddenWaysTest, WaysThatMakeRoundsFasterStay) {
  RunRounds({20, 9, 8, 8, 9, 9, 7.5, 5, 5, 9, 5, 9, 5});
  EXPECT_TRUE(ways_.are_suspected());
  RunRounds({9, 9, 9, 9, 9, 9, 9, 9});
  EXPECT_TRUE(ways_.are_suspected()) << "what changes later has other reasons";
}

TEST_F(HiddenWaysTest, WaysThatMakeRoundsNoSlowerStay) {
  RunRounds({20, 9, 8, 8, 9, 9, 9, 8.3, 8.1, 8, 9, 9});
  EXPECT_TRUE(ways_.are_suspected());
}

TEST_F(HiddenWaysTest, WaysThatMakeRoundsSlowerAreGivenUpForGood) {
  RunRounds({20, 9, 8, 8, 9, 9, 9.5, 8.5, 9, 7, 9});
  EXPECT_TRUE(ways_.are_suspected()) << "too few rounds for a verdict";
  RunRounds({9});
  EXPECT_FALSE(ways_.are_suspected());
  RunRounds({12, 12, 12, 12, 12, 12, 12, 12, 12, 12});
  EXPECT_FALSE(ways_.are_suspected());
  ways_.Forget();
  RunRounds({20, 9, 8, 8, 8});
  EXPECT_TRUE(ways_.are_suspected());
}

TEST_F(HiddenWaysTest, ARoundThatSeveralMembersReportCountsOnce) {
  for (int member = 0; member < 9; ++member) ways_.OnRound(3, absl::Seconds(9), absl::Seconds(4));
  EXPECT_FALSE(ways_.are_suspected());
}

}  // namespace
}  // namespace banyan
