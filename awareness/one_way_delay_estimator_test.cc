#include "awareness/one_way_delay_estimator.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(OneWayDelayEstimatorTest, IsTheMeanOverAsManyChunksAsAskedFor) {
  OneWayDelayEstimator estimator(40000, 2);
  EXPECT_FALSE(estimator.Add(50000, absl::Milliseconds(100)));
  EXPECT_EQ(estimator.rate_bps(), 0);
  EXPECT_TRUE(estimator.Add(50000, absl::Milliseconds(200)));
  EXPECT_DOUBLE_EQ(estimator.rate_bps(), 3e6);  // of 4 and 2 Mbit/s
  estimator.Add(50000, absl::Milliseconds(50));
  EXPECT_DOUBLE_EQ(estimator.rate_bps(), 3e6);
  estimator.Add(50000, absl::Milliseconds(50));
  EXPECT_DOUBLE_EQ(estimator.rate_bps(), 8e6);
}

TEST(OneWayDelayEstimatorTest, LeavesOutTinyChunksAndTimesThatCannotBe) {
  OneWayDelayEstimator estimator(40000, 1);
  estimator.Add(39999, absl::Milliseconds(1));
  estimator.Add(40000, absl::ZeroDuration());
  estimator.Add(40000, absl::Milliseconds(-5));
  EXPECT_EQ(estimator.rate_bps(), 0);
  estimator.Add(40000, absl::Milliseconds(320));
  EXPECT_DOUBLE_EQ(estimator.rate_bps(), 1e6);
}

TEST(OneWayDelayEstimatorTest, EmptyChunksNeverCount) {
  OneWayDelayEstimator estimator(0, 1);
  estimator.Add(0, absl::Milliseconds(1));
  EXPECT_EQ(estimator.rate_bps(), 0);
}

}  // namespace
}  // namespace banyan
