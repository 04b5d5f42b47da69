#include "bench/timing.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TimingTest, TheMedianIsInTheMiddleOfTheSortedValues) {
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(Median({9, 1, 4}), 4);
  EXPECT_EQ(Median({9, 1, 4, 6}), 5);
}

TEST(TimingTest, RoundsAreNearWhenThreeInARowAre) {
  EXPECT_EQ(FirstNear({9, 5, 4.3, 4.1, 4, 9}, 4), 2u);
  EXPECT_EQ(FirstNear({9, 4.3, 5, 4.1, 4}, 4), 3u) << "as far as there are three";
  EXPECT_EQ(FirstNear({9, 5, 4.5}, 4), std::nullopt);
  EXPECT_EQ(FirstNear({}, 4), std::nullopt);
}

TEST(TimingTest, TheWorkIsDoneOnce) {
  int runs = 0;
  EXPECT_GE(SecondsOf([&runs] { ++runs; }), 0);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace banyan
