#include "precision/profile/operating_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kWhole[] = R"(schema: 1
profile: cifar-resnet18
provenance: {source: vision trace, made_by: a study, evidence: 3/3 detections}
mode: ternary
scope: tensor
format: {gate: result, result_margin: 0.5, tie: positive}
bits_per_element: 2
admission: {warmup_steps: 1600, least_sign_agreement: 0.6, most_near_zero: 0.4, least_cosine: 0.2, most_loss_rise: -0.1}
detector: {slack: 3.91e-3, threshold: 9.38e-2, smoothing: 0.2, most_metric_drop: 0.02}
recovery: {cooldown_steps: 100, readmission_steps: 20, guard_steps: 30, guard_factor: 2}
exposure: {bound: 0.24, band: 0.05, interval_steps: 5}
controls: late-phase-guard
guard: forced
)";

constexpr char kLeast[] = R"(schema: 1
profile: p
provenance: {source: s, made_by: m}
mode: binary
detector: {slack: 0, threshold: 1}
)";

std::string With(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string Refusal(const std::string& text) { return std::string(ReadProfile(text, "p.yaml").status().message()); }

TEST(OperatingProfileTest, ReadsEveryKey) {
  const absl::StatusOr<OperatingProfile> profile = ReadProfile(kWhole, "p.yaml");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->name, "cifar-resnet18");
  EXPECT_EQ(profile->provenance.evidence, "3/3 detections");
  EXPECT_EQ(profile->rules.family, LowBitFamily::kTernary);
  EXPECT_EQ(profile->rules.gate, ZeroGate::kResult);
  EXPECT_EQ(profile->rules.tie, TieRule::kPositive);
  EXPECT_EQ(profile->rules.result_margin, 0.5);
  EXPECT_EQ(profile->scope, PrecisionScope::kTensor);
  EXPECT_EQ(profile->bits_per_element, 2);
  EXPECT_EQ(profile->admission.warmup_steps, 1600);
  EXPECT_EQ(profile->admission.most_loss_rise, -0.1);
  EXPECT_EQ(profile->detector.slack, 3.91e-3);
  EXPECT_EQ(profile->detector.threshold, 9.38e-2);
  EXPECT_EQ(profile->detector.most_metric_drop, 0.02);
  EXPECT_EQ(profile->recovery.guard_steps, 30);
  EXPECT_EQ(profile->exposure.interval_steps, 5);
  EXPECT_EQ(profile->controls.name, "late-phase-guard");
  EXPECT_FALSE(profile->has_guard);
}

TEST(OperatingProfileTest, ModeSaysTheBitsAndNoneNeedsNoDetector) {
  EXPECT_EQ(ReadProfile(kLeast, "p.yaml")->bits_per_element, 1);
  EXPECT_NEAR(ReadProfile(With(kLeast, "binary", "ternary"), "p.yaml")->bits_per_element, 1.585, 1e-4);
  const std::string none = "schema: 1\nprofile: p\nprovenance: {source: s, made_by: m}\nmode: none\n";
  EXPECT_FALSE(ReadProfile(none, "p.yaml")->has_low_bit);
}

TEST(OperatingProfileTest, RefusalsSayWhereAndWhat) {
  EXPECT_THAT(Refusal(With(kLeast, "schema: 1", "schema: 2")),
              HasSubstr("p.yaml:1:9: schema: expected 1, which is what this version reads of a profile, got 2"));
  EXPECT_THAT(Refusal(With(kLeast, "binary", "bonary")), HasSubstr("p.yaml:4:7: mode"));
  EXPECT_THAT(Refusal(With(kLeast, "slack: 0, ", "")), HasSubstr("slack"));
  EXPECT_THAT(Refusal(With(kLeast, "threshold: 1", "threshold: 0")), HasSubstr("p.yaml:5:33"));
  EXPECT_THAT(Refusal(With(kLeast, "mode", "mod")), HasSubstr("mode"));
  EXPECT_THAT(Refusal(With(kWhole, "late-phase-guard", "late-guard")), HasSubstr("p.yaml:12:11: controls"));
  EXPECT_THAT(Refusal(With(kWhole, "tie: positive", "aggregate: mean")), HasSubstr("gate at the sender"));
  EXPECT_THAT(Refusal(With(kWhole, "band: 0.05", "bend: 0.05")), HasSubstr("bend"));
  EXPECT_THAT(Refusal("[]"), HasSubstr("p.yaml:1:1"));
}

}  // namespace
}  // namespace banyan
