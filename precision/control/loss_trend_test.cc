#include "precision/control/loss_trend.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(LossTrendTest, SmoothsAndTellsTheRise) {
  LossTrend trend(0.25);
  EXPECT_EQ(trend.Add(2), 0);
  EXPECT_EQ(trend.Add(6), 1);
  EXPECT_EQ(trend.smoothed(), 3);
  EXPECT_EQ(trend.Add(3), 0);
}

TEST(LossTrendTest, ALossThatIsNotFiniteRisesForEverAndLeavesTheRest) {
  LossTrend trend(0.5);
  trend.Add(1);
  EXPECT_EQ(trend.Add(NAN), HUGE_VAL);
  EXPECT_EQ(trend.Add(-HUGE_VAL), HUGE_VAL);
  EXPECT_EQ(trend.smoothed(), 1);
}

TEST(RunningStatisticsTest, MeanAndDeviation) {
  RunningStatistics statistics;
  EXPECT_EQ(statistics.deviation(), 0);
  for (double value : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) statistics.Add(value);
  EXPECT_EQ(statistics.count(), 8);
  EXPECT_DOUBLE_EQ(statistics.mean(), 5);
  EXPECT_NEAR(statistics.deviation(), 2.1381, 1e-4);
}

}  // namespace
}  // namespace banyan
