#include <gtest/gtest.h>

#include "precision/control/supervisor.h"

namespace banyan {
namespace {

OperatingProfile Profile() {
  OperatingProfile profile;
  profile.exposure.bound = 0.45;
  profile.recovery.cooldown_steps = 100;
  profile.recovery.readmission_steps = 40;
  profile.controls = *NamedControls("probe-guided");
  return profile;
}

constexpr DetectorScale kScale{.slack = 0.01, .threshold = 0.1, .confidence = 1};

TEST(ProbeResultTest, AQuietProbeGivesATargetNearTheBoundAndAShortCooldown) {
  // Inputs for which the formulas give what the paper's run learned, a target of 0.41 and 6 steps: its own inputs are
  // not told.
  const ProbeResult result = JudgeProbe({-0.001, 0, 1, 12, 75}, kScale, Profile());
  EXPECT_NEAR(result.target, 0.41, 0.005);
  EXPECT_NEAR(result.trigger_density, 1.0 / 12, 1e-12);
  EXPECT_EQ(result.cooldown_steps, 6);
  EXPECT_EQ(result.readmission_steps, 3);
}

TEST(ProbeResultTest, AProbeThatRisesOrTriggersAllowsLess) {
  const double quiet = JudgeProbe({0, 0, 0, 12, 75}, kScale, Profile()).target;
  const double rising = JudgeProbe({0.01, 0, 0, 12, 75}, kScale, Profile()).target;
  EXPECT_EQ(quiet, 0.45);
  EXPECT_NEAR(rising, 0.225, 1e-12);
  EXPECT_EQ(JudgeProbe({0, 0, 12, 12, 75}, kScale, Profile()).target, Profile().controls.least_target);
  DetectorScale unsure = kScale;
  unsure.confidence = 0.5;
  EXPECT_NEAR(JudgeProbe({0, 0, 0, 12, 75}, unsure, Profile()).target, 0.225, 1e-12);
}

TEST(ProbeResultTest, TheCooldownIsAtMostTheProfiles) {
  EXPECT_EQ(JudgeProbe({0, 0, 0, 12, 100000}, kScale, Profile()).cooldown_steps, 100);
  EXPECT_EQ(JudgeProbe({0, 0, 0, 12, std::nullopt}, kScale, Profile()).cooldown_steps, 100);
  EXPECT_EQ(JudgeProbe({0, 0, 0, 12, 1}, kScale, Profile()).cooldown_steps, 1);
}

}  // namespace
}  // namespace banyan
