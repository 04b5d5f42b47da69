#include "precision/calibration/detector_calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace banyan {
namespace {

constexpr CalibrationOptions kOptions{.warmup_steps = 50, .smoothing = 0.1, .margin = 1.25};

std::vector<double> Losses(uint64_t seed, int64_t harmed_from, double harm) {
  Random random(seed);
  std::vector<double> losses;
  for (int64_t step = 0; step < 400; ++step) {
    const double damage = step >= harmed_from ? harm : 0;
    losses.push_back(2 * std::exp(-static_cast<double>(step) / 200) + 0.1 * (random.Unit() - 0.5) + damage);
  }
  return losses;
}

constexpr int64_t kNever = 1000;

TEST(DetectorCalibrationTest, IsSilentInHealthyRunsAndHearsHarmedOnes) {
  std::vector<std::vector<double>> healthy;
  std::vector<HarmedRun> harmed;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    healthy.push_back(Losses(seed, kNever, 0));
    harmed.push_back({Losses(seed + 10, 200, 0.8), 200});
  }
  const absl::StatusOr<Calibration> calibration = CalibrateDetector(healthy, harmed, kOptions);
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  EXPECT_GT(calibration->detector.slack, 0);
  EXPECT_EQ(calibration->detections, 3);
  EXPECT_EQ(calibration->false_alarms, 0);
  ASSERT_TRUE(calibration->slowest_steps.has_value());
  EXPECT_LE(*calibration->slowest_steps, 10);
  EXPECT_EQ(calibration->Evidence().substr(0, 19), "3/3 true detections");
}

TEST(DetectorCalibrationTest, TheProfileIsOneThatARunReads) {
  const Calibration calibration = *CalibrateDetector({Losses(1, kNever, 0)}, {}, kOptions);
  const std::string yaml =
      CalibratedProfileYaml("small \"net\"", "one run", LowBitFamily::kTernary, calibration, kOptions);
  const absl::StatusOr<OperatingProfile> profile = ReadProfile(yaml, "profile.yaml");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->name, "small \"net\"");
  EXPECT_EQ(profile->rules.family, LowBitFamily::kTernary);
  EXPECT_EQ(profile->admission.warmup_steps, 50);
  EXPECT_NEAR(profile->detector.slack, calibration.detector.slack, 1e-6);
  EXPECT_EQ(profile->provenance.evidence, "0/0 true detections, 0 false; silent in 1 healthy runs");
}

TEST(DetectorCalibrationTest, RefusesWhatSaysNothing) {
  EXPECT_FALSE(CalibrateDetector({}, {}, kOptions).ok());
  EXPECT_EQ(CalibrateDetector({std::vector<double>(50, 1.0)}, {}, kOptions).status().message(),
            "expected runs of more than the 50 steps of the warm-up, got one of 50");
  std::vector<double> broken(60, 1.0);
  broken[55] = NAN;
  EXPECT_FALSE(CalibrateDetector({broken}, {}, kOptions).ok());
  EXPECT_TRUE(CalibrateDetector({std::vector<double>(60, 1.0)}, {{broken, 55}}, kOptions).ok());
}

TEST(DetectorCalibrationTest, ALossThatIsNotFiniteIsDetectedAtOnce) {
  std::vector<double> broken = Losses(4, kNever, 0);
  broken[300] = NAN;
  const Calibration calibration = *CalibrateDetector({Losses(1, kNever, 0)}, {{broken, 300}}, kOptions);
  EXPECT_EQ(calibration.slowest_steps, 1);
}

}  // namespace
}  // namespace banyan
