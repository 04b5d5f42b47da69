#include "precision/preflight/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precision/profile/binding_proposal.h"
#include "precision/samples/model_tensors.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

PreflightInput Input() {
  PreflightInput input;
  input.profile.rules.family = LowBitFamily::kTernary;
  input.profile.bits_per_element = 1.585;
  input.profile.detector = {2.11e-4, 1.01e-2, 0.1};
  input.profile.admission.warmup_steps = 20;
  input.tensors = DistilBertTensors();
  input.binding = ProposeBinding(input.tensors, LowBitFamily::kTernary, "distilbert", "its names");
  input.workers = 8;
  return input;
}

const PreflightCheck& Check(const PreflightReport& report, const std::string& name) {
  for (const PreflightCheck& check : report.checks) {
    if (check.name == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return report.checks[0];
}

TEST(PreflightTest, AFittingBindingPasses) {
  const PreflightReport report = RunPreflight(Input());
  EXPECT_TRUE(report.is_passed()) << PreflightText(report);
  EXPECT_NEAR(report.candidate_share, 0.6343, 1e-4);
  EXPECT_NEAR(report.static_traffic, 0.397, 1e-3);
  EXPECT_THAT(Check(report, "coverage").detail, HasSubstr("all 104 tensors are bound"));
  EXPECT_THAT(Check(report, "voters").detail, HasSubstr("8 voters: counts take up to 8 bits per element"));
  EXPECT_THAT(PreflightText(report), HasSubstr("ok     forced veto       5 of 5 rounds had the route fallback"));
  EXPECT_THAT(PreflightJson(report), HasSubstr("{\"is_passed\":true,\"candidate_share\":0.634"));
}

// Nodes send no diagnostics.
TEST(PreflightTest, ALimitThatNoJobMeasuresIsFound) {
  PreflightInput input = Input();
  input.profile.admission.least_cosine = 0.5;
  const PreflightReport report = RunPreflight(input);
  EXPECT_FALSE(report.is_passed());
  EXPECT_THAT(Check(report, "admission").detail, HasSubstr("no diagnostics came in the warm-up, and the profile has"));
}

TEST(PreflightTest, CoverageSaysWhatIsMissingAndWhatIsForeign) {
  PreflightInput input = Input();
  input.tensors.push_back({"adapter.weight", {8, 8}});
  EXPECT_THAT(Check(RunPreflight(input), "coverage").detail, HasSubstr("not bound, and so fp32: adapter.weight"));
  EXPECT_FALSE(RunPreflight(input).is_passed());
  input.tensors.pop_back();
  input.tensors.pop_back();
  EXPECT_THAT(Check(RunPreflight(input), "coverage").detail, HasSubstr("not in the model: classifier.bias"));
  input = Input();
  input.tensors[0].dimensions = {3};
  EXPECT_THAT(Check(RunPreflight(input), "coverage").detail, HasSubstr("(expected 3 elements, bound 23440896)"));
  input.tensors.clear();
  EXPECT_TRUE(RunPreflight(input).is_passed());
}

TEST(PreflightTest, ASensitiveTensorWithAnotherRoleIsFound) {
  PreflightInput input = Input();
  std::vector<TensorBinding> tensors = input.binding.tensors();
  tensors[0].slices[0].is_candidate = true;
  tensors[0].slices[0].role = TensorRole::kEncoder;
  input.binding = PrecisionBinding("wrong", {}, tensors);
  const PreflightReport report = RunPreflight(input);
  EXPECT_FALSE(Check(report, "sensitive roles").is_passed);
  EXPECT_THAT(Check(report, "sensitive roles").detail, HasSubstr("word_embeddings.weight (its name has 'embed')"));
}

TEST(PreflightTest, AnotherFamilyThanTheProfilesFails) {
  PreflightInput input = Input();
  input.profile.rules.family = LowBitFamily::kBinary;
  const PreflightReport report = RunPreflight(input);
  EXPECT_FALSE(Check(report, "family").is_passed);
  EXPECT_THAT(Check(report, "family").detail, HasSubstr("and 33 more"));
  EXPECT_THAT(Check(report, "voters").detail, HasSubstr("votes may tie"));
}

TEST(PreflightTest, NoCandidateFails) {
  PreflightInput input = Input();
  input.tensors = {{"scale", {4}}};
  input.binding = ProposeBinding(input.tensors, LowBitFamily::kTernary, "none", "its names");
  EXPECT_FALSE(Check(RunPreflight(input), "expected share").is_passed);
}

}  // namespace
}  // namespace banyan
