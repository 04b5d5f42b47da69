#include "precision/profile/control_settings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace banyan {
namespace {

TEST(ControlSettingsTest, EveryRungOfTheLaddersHasAName) {
  const std::vector<std::string> names = ControlSettingNames();
  for (const char* name : {"warm-up-only", "trust-region", "auto-budget", "smoothed-budget", "late-phase-guard",
                           "healthy-references", "fixed-profile", "run-aware-cooldown", "no-veto", "probe-guided",
                           "noise-aware", "growth-only", "grow-shrink", "static", "fp32", "calibrated"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
    ASSERT_TRUE(NamedControls(name).has_value()) << name;
    EXPECT_EQ(NamedControls(name)->name, name);
  }
  EXPECT_FALSE(NamedControls("warm-up").has_value());
}

TEST(ControlSettingsTest, ARungHasWhatItBuildsOn) {
  const ControlSettings healthy = *NamedControls("healthy-references");
  EXPECT_TRUE(healthy.late_guard && healthy.learned_reference && healthy.adaptive_windows && healthy.auto_target);
  EXPECT_EQ(healthy.detector, DetectorSource::kTrustRegion);
  const ControlSettings noise = *NamedControls("noise-aware");
  EXPECT_TRUE(noise.probe && noise.budget);
  EXPECT_TRUE(noise.is_run_aware);
  EXPECT_FALSE(NamedControls("no-veto")->veto);
  EXPECT_FALSE(NamedControls("growth-only")->may_shrink);
  EXPECT_TRUE(NamedControls("grow-shrink")->may_shrink);
}

}  // namespace
}  // namespace banyan
