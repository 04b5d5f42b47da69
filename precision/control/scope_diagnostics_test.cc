#include <gtest/gtest.h>

#include "precision/control/commander.h"

namespace banyan {
namespace {

ScopeDiagnostics Diagnose(const std::vector<std::vector<float>>& gradients) {
  std::vector<absl::Span<const float>> spans(gradients.begin(), gradients.end());
  return DiagnoseScope(spans, VoteRules());
}

TEST(ScopeDiagnosticsTest, WorkersThatAgreeAreSeen) {
  const ScopeDiagnostics diagnostics = Diagnose({{1, -1, 1}, {1, -1, 1}, {1, -1, 1}});
  EXPECT_EQ(diagnostics.sign_agreement, 1);
  EXPECT_EQ(diagnostics.near_zero, 0);
  EXPECT_NEAR(diagnostics.cosine, 1, 1e-12);
}

TEST(ScopeDiagnosticsTest, WorkersThatDoNotAgreeAreSeen) {
  const ScopeDiagnostics diagnostics = Diagnose({{1, -1}, {-1, 1}});
  EXPECT_EQ(diagnostics.sign_agreement, 0.5);
  EXPECT_EQ(diagnostics.cosine, 0);
}

TEST(ScopeDiagnosticsTest, OneLargeValueAmongSmallOnesHasALowCosine) {
  std::vector<float> values(100, 0.01f);
  values[0] = -10;
  const ScopeDiagnostics diagnostics = Diagnose({values});
  EXPECT_NEAR(diagnostics.near_zero, 0.99, 1e-9);
  EXPECT_LT(diagnostics.cosine, 0.2);
}

TEST(ScopeDiagnosticsTest, NoElementsSayNothingBad) { EXPECT_EQ(Diagnose({{}, {}}).cosine, 1); }

}  // namespace
}  // namespace banyan
