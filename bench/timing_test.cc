#include "bench/timing.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TimingTest, TheMedianIsInTheMiddleOfTheSortedValues) {
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(Median({9, 1, 4}), 4);
  EXPECT_EQ(Median({9, 1, 4, 6}), 5);
}

TEST(TimingTest, TheWorkIsDoneOnce) {
  int runs = 0;
  EXPECT_GE(SecondsOf([&runs] { ++runs; }), 0);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace banyan
