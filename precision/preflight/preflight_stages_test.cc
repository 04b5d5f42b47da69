#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precision/preflight/preflight.h"

namespace banyan {
namespace {

SliceBinding Slice(int64_t first, int64_t elements, TensorRole role, bool is_candidate) {
  SliceBinding slice;
  slice.first = first;
  slice.elements = elements;
  slice.role = role;
  slice.is_candidate = is_candidate;
  return slice;
}

// One bucket of a matrix and a norm, and a head.
PrecisionBinding Binding() {
  return PrecisionBinding(
      "net", {},
      {{"bucket", 50, {Slice(0, 40, TensorRole::kEncoder, true), Slice(40, 10, TensorRole::kNorm, false)}},
       {"head", 30, {Slice(0, 30, TensorRole::kHead, false)}}});
}

OperatingProfile Profile(const std::string& controls) {
  OperatingProfile profile;
  profile.admission.warmup_steps = 20;
  profile.detector = {0.01, 0.1, 0.1};
  profile.exposure.bound = 0.4;
  profile.controls = *NamedControls(controls);
  return profile;
}

TEST(PreflightStagesTest, EverySettingThatAdmitsPassesWithoutViolations) {
  for (const std::string& name : ControlSettingNames()) {
    if (name == "fp32") continue;
    const PreflightRun run = RunPreflightStages(Profile(name), Binding());
    ASSERT_EQ(run.stages.size(), name == "static" ? 3u : 4u);
    for (const PreflightStage& stage : run.stages)
      EXPECT_TRUE(stage.is_right) << name << ": " << stage.name << ": " << stage.detail;
    EXPECT_EQ(run.audit.all().violations, 0);
    EXPECT_GT(run.audit.keys().at("bucket").mixed, 0);
    EXPECT_EQ(run.audit.keys().at("head").low_bit, 0);
  }
}

TEST(PreflightStagesTest, WhatNeverAdmitsFailsAndSaysWhy) {
  const PreflightRun run = RunPreflightStages(Profile("fp32"), Binding());
  EXPECT_FALSE(run.stages[1].is_right);
  EXPECT_THAT(run.stages[1].detail, testing::HasSubstr("have no low-bit rounds"));
  OperatingProfile strict = Profile("calibrated");
  strict.admission.most_loss_rise = -100;
  EXPECT_THAT(RunPreflightStages(strict, Binding()).stages[1].detail,
              testing::HasSubstr("scope encoder: the loss rose"));
}

TEST(PreflightStagesTest, ALongWarmupIsRehearsedShortly) {
  OperatingProfile profile = Profile("calibrated");
  profile.admission.warmup_steps = 1000 * 1000 * 1000;
  EXPECT_TRUE(RunPreflightStages(profile, Binding()).stages[1].is_right);
}

}  // namespace
}  // namespace banyan
