#include "gtest/gtest.h"
#include "sim/overlays.h"
#include "sim/runs/scenario.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

TEST(OverlayTextTest, WhatIsReadBackIsTheSame) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string text = WriteOverlay(MakeScenario(seed).cluster.overlay);
    const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, "sim.yaml");
    ASSERT_TRUE(overlay.ok()) << overlay.status() << "\n" << text;
    EXPECT_EQ(WriteOverlay(*overlay), text);
  }
}

TEST(OverlayTextTest, QuorumAndOrderAreReadBack) {
  OverlayConfig overlay = MakeScenario(1).cluster.overlay;
  overlay.aggregation.quorum = 1.0 / 3;
  overlay.aggregation.grace = absl::Milliseconds(20);
  overlay.aggregation.fixed_order = true;
  overlay.aggregation.not_finite = NotFiniteRule::kSkip;
  const absl::StatusOr<OverlayConfig> read = ParseOverlay(WriteOverlay(overlay), "sim.yaml");
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << WriteOverlay(overlay);
  EXPECT_EQ(read->aggregation, overlay.aggregation);
}

TEST(OverlayTextTest, PricesAreReadBack) {
  OverlayConfig overlay = MakeScenario(1).cluster.overlay;
  ASSERT_TRUE(overlay.links.has_value());
  overlay.nodes[1].price_per_gb = 0.09;
  overlay.links->front().a_to_b_price_per_gb = 1.0 / 3;
  overlay.links->front().b_to_a_price_per_gb = 2;
  overlay.topology.planner = "packed";
  overlay.topology.budget_per_round = 0.1;
  const absl::StatusOr<OverlayConfig> read = ParseOverlay(WriteOverlay(overlay), "sim.yaml");
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << WriteOverlay(overlay);
  EXPECT_EQ(read->nodes[1].price_per_gb, 0.09);
  EXPECT_EQ(read->links->front().a_to_b_price_per_gb, 1.0 / 3);
  EXPECT_EQ(read->links->front().b_to_a_price_per_gb, 2);
  EXPECT_EQ(read->topology.budget_per_round, 0.1);
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
  const absl::StatusOr<OverlayConfig> read = ParseOverlay(WriteOverlay(overlay), "sim.yaml");
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << WriteOverlay(overlay);
  EXPECT_EQ(read->compression, overlay.compression);
}

}  // namespace
}  // namespace banyan
