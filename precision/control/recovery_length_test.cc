#include <gtest/gtest.h>

#include "precision/control/supervisor.h"

namespace banyan {
namespace {

constexpr RecoveryProfile kRecovery{
    .cooldown_steps = 50, .readmission_steps = 10, .guard_steps = 20, .guard_factor = 2};

Trigger Strong() {
  return {.reached = 5, .threshold = 1, .slack = 0.1, .rise = 4, .is_repeated = false, .remaining_steps = 200};
}

TEST(RecoveryLengthTest, EachRuleHasItsLength) {
  EXPECT_EQ(JudgeTrigger(Strong(), kRecovery, *NamedControls("fixed-profile")).cooldown_steps, 50);
  EXPECT_EQ(JudgeTrigger(Strong(), kRecovery, *NamedControls("run-aware-cooldown")).cooldown_steps, 20);
}

TEST(RecoveryLengthTest, ATriggerSoonAfterReadmissionCoolsDownForLonger) {
  Trigger repeated = Strong();
  repeated.is_repeated = true;
  EXPECT_EQ(JudgeTrigger(repeated, kRecovery, *NamedControls("fixed-profile")).cooldown_steps, 100);
  EXPECT_EQ(JudgeTrigger(repeated, kRecovery, *NamedControls("run-aware-cooldown")).cooldown_steps, 20);
}

TEST(RecoveryLengthTest, OnlyASmallTriggerIsNoise) {
  const ControlSettings settings = *NamedControls("noise-aware");
  Trigger near = Strong();
  near.reached = 1.2;
  near.rise = 0.15;
  EXPECT_TRUE(JudgeTrigger(near, kRecovery, settings).is_noise);
  EXPECT_EQ(JudgeTrigger(near, kRecovery, settings).cooldown_steps, settings.short_cooldown_steps);
  EXPECT_FALSE(JudgeTrigger(near, kRecovery, *NamedControls("probe-guided")).is_noise);
  Trigger moved = near;
  moved.rise = 0.3;
  EXPECT_FALSE(JudgeTrigger(moved, kRecovery, settings).is_noise);
  Trigger far = near;
  far.reached = 1.3;
  EXPECT_FALSE(JudgeTrigger(far, kRecovery, settings).is_noise);
  Trigger repeated = near;
  repeated.is_repeated = true;
  EXPECT_FALSE(JudgeTrigger(repeated, kRecovery, settings).is_noise);
}

}  // namespace
}  // namespace banyan
