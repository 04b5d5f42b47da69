#include "sim/overlay_text.h"

#include "gtest/gtest.h"
#include "sim/runs/scenario.h"
#include "topology/overlay/overlay_yaml.h"

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

TEST(OverlayTextTest, QuorumAndOrderAreReadBack) {
  OverlayConfig overlay = MakeScenario(1).cluster.overlay;
  overlay.aggregation.quorum = 1.0 / 3;
  overlay.aggregation.grace = absl::Milliseconds(20);
  overlay.aggregation.fixed_order = true;
  const absl::StatusOr<OverlayConfig> read = ParseOverlay(OverlayText(overlay), "sim.yaml");
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << OverlayText(overlay);
  EXPECT_EQ(read->aggregation, overlay.aggregation);
}

TEST(OverlayTextTest, CompressionIsReadBack) {
  OverlayConfig overlay = MakeScenario(1).cluster.overlay;
  overlay.compression = {.rules = {{.keys = "a \"b\" \\*",
                                    .codec = CodecId::kTopK,
                                    .controller = RatioControllerKind::kNetSense,
                                    .numbers = {{"increase_step", 0.1 / 3}, {"propagation_rounds", 1000}},
                                    .selection = TopKSelection::kSampled,
                                    .error_feedback = false},
                                   {.codec = CodecId::kFp16}},
                         .least_elements = 7};
  const absl::StatusOr<OverlayConfig> read = ParseOverlay(OverlayText(overlay), "sim.yaml");
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << OverlayText(overlay);
  EXPECT_EQ(read->compression, overlay.compression);
}

}  // namespace
}  // namespace banyan
