#include "sim/overlay_text.h"

#include "gtest/gtest.h"
#include "sim/scenario.h"
#include "topology/overlay_yaml.h"

namespace banyan {
namespace {

TEST(OverlayTextTest, WhatIsReadBackIsTheSame) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string text = OverlayText(MakeScenario(seed).cluster.overlay);
    const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, "sim.yaml");
    ASSERT_TRUE(overlay.ok()) << overlay.status() << "\n" << text;
    EXPECT_EQ(OverlayText(*overlay), text);
  }
}

}  // namespace
}  // namespace banyan
