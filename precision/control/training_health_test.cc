#include "precision/control/training_health.h"

#include <gtest/gtest.h>

#include <cmath>

namespace banyan {
namespace {

TEST(TrainingHealthTest, MeanOfAllReports) {
  const TrainingHealth mean = MeanHealth({{7, 1.0, 0.5, 1.0, 0.8}, {7, 3.0, 0.5, 0.5, std::nullopt}});
  EXPECT_EQ(mean.step, 7);
  EXPECT_EQ(mean.loss, 2.0);
  EXPECT_EQ(mean.progress, 0.5);
  EXPECT_EQ(mean.learning_rate_fraction, 0.75);
  EXPECT_EQ(mean.metric, 0.8);
  EXPECT_FALSE(std::isfinite(MeanHealth({{1, 1.0}, {1, NAN}}).loss));
}

TEST(TrainingHealthTest, RemainingStepsFollowFromProgress) {
  EXPECT_EQ(RemainingSteps({25, 0, 0.25}), 75);
  EXPECT_EQ(RemainingSteps({100, 0, 1.0}), 0);
  EXPECT_EQ(RemainingSteps({25, 0, 0.0}), std::nullopt);
}

}  // namespace
}  // namespace banyan
