#include "examples/fashion_mnist/accuracy/accuracy_scenario.h"

#include <set>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(AccuracyScenarioTest, TheMeshGivesEachNodeItsPartOf200MbitPerSecond) {
  OverlayConfig overlay = MeshOverlay(46200000 / 4);
  EXPECT_EQ(overlay.nodes.size(), 8u);
  EXPECT_EQ(overlay.links->size(), 28u);
  EXPECT_NEAR(7 * overlay.links->front().a_to_b_bps, 200e6, 1);
  ScaleRates(800, overlay);
  EXPECT_NEAR(7 * overlay.links->back().b_to_a_bps, 800e6, 1);
}

TEST(AccuracyScenarioTest, DegradingGoesToATenthInTenSteps) {
  const RateProfile profile = MakeRateProfile(AccuracyScenario::kDegrading, 100, 1);
  EXPECT_EQ(profile.rounds, 10u);
  EXPECT_DOUBLE_EQ(profile.part(0, NodeId(1)), 1);
  EXPECT_DOUBLE_EQ(profile.part(1, NodeId(1)), 0.9);
  EXPECT_DOUBLE_EQ(profile.part(9, NodeId(1)), 0.1);
  EXPECT_DOUBLE_EQ(profile.part(10, NodeId(1)), 0.1);
}

TEST(AccuracyScenarioTest, CompetitorsShareAllLinksAlike) {
  const RateProfile profile = MakeRateProfile(AccuracyScenario::kFluctuating, 100, 1);
  std::set<double> parts;
  for (uint64_t step = 0; step < 100; ++step) {
    parts.insert(profile.part(step, NodeId(1)));
    EXPECT_EQ(profile.part(step, NodeId(1)), profile.part(step, NodeId(8)));
  }
  EXPECT_EQ(parts, (std::set<double>{1.0, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5}));
}

TEST(AccuracyScenarioTest, Dc2DrawsForEachNodeTheSameForAllCombinations) {
  const RateProfile profile = MakeRateProfile(AccuracyScenario::kDc2, 100, 3);
  const RateProfile again = MakeRateProfile(AccuracyScenario::kDc2, 900, 3);
  double sum = 0;
  for (uint64_t step = 0; step < 1000; ++step) {
    const double part = profile.part(step, NodeId(2));
    EXPECT_GE(part, 0.1);
    EXPECT_LE(part, 1);
    EXPECT_EQ(part, again.part(step, NodeId(2)));
    EXPECT_NE(part, profile.part(step, NodeId(3)));
    sum += part;
  }
  EXPECT_NEAR(sum / 1000, 0.55, 0.03);
}

TEST(AccuracyScenarioTest, StaticLinksStayAsTheyAre) {
  EXPECT_FALSE(MakeRateProfile(AccuracyScenario::kStatic, 100, 1).part);
}

}  // namespace
}  // namespace banyan
