#include "examples/fashion_mnist/learning_rate.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(LearningRateTest, RisesOverATenthAndFallsToZero) {
  EXPECT_DOUBLE_EQ(LearningRatePart(0, 100), 0.1);
  EXPECT_DOUBLE_EQ(LearningRatePart(4, 100), 0.5);
  EXPECT_DOUBLE_EQ(LearningRatePart(10, 100), 1);
  EXPECT_DOUBLE_EQ(LearningRatePart(55, 100), 0.5);
  EXPECT_NEAR(LearningRatePart(99, 100), 0.01 / 0.9, 1e-12);
}

TEST(LearningRateTest, IsNeverAboveOneNorZero) {
  for (int64_t rounds : {1, 2, 7, 350}) {
    for (int64_t done = 0; done < rounds; ++done) {
      EXPECT_GT(LearningRatePart(done, rounds), 0);
      EXPECT_LE(LearningRatePart(done, rounds), 1);
    }
  }
}

}  // namespace
}  // namespace banyan
