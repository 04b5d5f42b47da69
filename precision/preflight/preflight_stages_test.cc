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

TEST(PreflightStagesTest, EverySettingThatAdmitsPasses) {
  for (const std::string& name : ControlSettingNames()) {
    if (name == "fp32") continue;
    const std::vector<PreflightStage> stages = RunPreflightStages(Profile(name), Binding());
    ASSERT_EQ(stages.size(), name == "static" ? 3u : 4u);
    for (const PreflightStage& stage : stages)
      EXPECT_TRUE(stage.is_right) << name << ": " << stage.name << ": " << stage.detail;
  }
}

TEST(PreflightStagesTest, WhatNeverAdmitsFailsAndSaysWhy) {
  const PreflightStage admission = RunPreflightStages(Profile("fp32"), Binding())[1];
  EXPECT_FALSE(admission.is_right);
  EXPECT_THAT(admission.detail, testing::HasSubstr("have no low-bit rounds"));
  OperatingProfile strict = Profile("calibrated");
  strict.admission.most_loss_rise = -100;
  EXPECT_THAT(RunPreflightStages(strict, Binding())[1].detail, testing::HasSubstr("scope encoder: the loss rose"));
  OperatingProfile diagnosed = Profile("calibrated");
  diagnosed.admission.least_cosine = 0.2;
  EXPECT_THAT(RunPreflightStages(diagnosed, Binding())[1].detail,
              testing::HasSubstr("no diagnostics came in the warm-up"))
      << "as none come in a job";
}

TEST(PreflightStagesTest, ALongWarmupIsRehearsedShortly) {
  OperatingProfile profile = Profile("calibrated");
  profile.admission.warmup_steps = 1000 * 1000 * 1000;
  EXPECT_TRUE(RunPreflightStages(profile, Binding())[1].is_right);
}

}  // namespace
}  // namespace banyan
