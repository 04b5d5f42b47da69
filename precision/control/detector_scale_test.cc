#include <gtest/gtest.h>

#include "precision/control/supervisor.h"

namespace banyan {
namespace {

constexpr DetectorProfile kProfile{.slack = 0.01, .threshold = 0.2, .smoothing = 0.1};

// Rises of a mean of 0 and this deviation.
RunningStatistics Rises(double deviation, int count) {
  RunningStatistics rises;
  for (int i = 0; i < count; ++i) rises.Add(i % 2 == 0 ? deviation : -deviation);
  return rises;
}

ControlSettings With(DetectorSource source) {
  ControlSettings settings;
  settings.detector = source;
  return settings;
}

TEST(DetectorScaleTest, TheProfileIsTakenAsItIs) {
  const DetectorScale scale = ScaleDetector(kProfile, Rises(1, 100), With(DetectorSource::kProfile));
  EXPECT_EQ(scale.slack, 0.01);
  EXPECT_EQ(scale.threshold, 0.2);
}

TEST(DetectorScaleTest, TheWarmupAloneMayLoosenItWithoutBound) {
  const DetectorScale scale = ScaleDetector(kProfile, Rises(0.1, 100), With(DetectorSource::kWarmup));
  EXPECT_NEAR(scale.slack, 0.1, 0.001);
  EXPECT_NEAR(scale.threshold, 2, 0.02);
  EXPECT_FALSE(scale.is_projected);
}

TEST(DetectorScaleTest, TheTrustRegionHoldsALooseningBack) {
  const ControlSettings settings = With(DetectorSource::kTrustRegion);
  const DetectorScale sure = ScaleDetector(kProfile, Rises(0.1, 100), settings);
  EXPECT_NEAR(sure.slack, 0.015, 1e-9);
  EXPECT_NEAR(sure.threshold, 0.3, 1e-9);
  EXPECT_TRUE(sure.is_projected);
  const DetectorScale unsure = ScaleDetector(kProfile, Rises(0.1, 10), settings);
  EXPECT_DOUBLE_EQ(unsure.confidence, 0.2);
  EXPECT_NEAR(unsure.slack, 0.011, 1e-9);
}

TEST(DetectorScaleTest, TighteningHasAFloor) {
  const DetectorScale scale = ScaleDetector(kProfile, Rises(1e-6, 100), With(DetectorSource::kTrustRegion));
  EXPECT_DOUBLE_EQ(scale.slack, 0.0025);
  EXPECT_DOUBLE_EQ(scale.threshold, 0.05);
  EXPECT_FALSE(scale.is_projected);
}

TEST(DetectorScaleTest, AWarmupOfNothingChangesNothing) {
  EXPECT_EQ(ScaleDetector(kProfile, RunningStatistics(), With(DetectorSource::kWarmup)).slack, 0.01);
}

}  // namespace
}  // namespace banyan
