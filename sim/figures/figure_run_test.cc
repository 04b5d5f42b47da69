#include <gtest/gtest.h>

#include "sim/figures/figure.h"
#include "topology/packing/rate_bound.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// A figure of one point: a small model over a family of overlays.
Figure FigureOf(const std::string& network, size_t seeds) {
  Figure figure;
  figure.minutes = 0.01;
  figure.seeds.clear();
  for (uint64_t seed = 1; seed <= seeds; ++seed) figure.seeds.push_back(seed);
  FigureCase point;
  point.overlay.topology.planner = "fapt";
  point.model_bytes = 1000 * 1000;
  point.network = network;
  figure.points.push_back({"fapt", network, point, std::nullopt});
  return figure;
}

FigureRow RowOf(const Figure& figure) {
  const absl::StatusOr<std::vector<FigureRow>> rows = RunFigure(figure, [](size_t) {});
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() ? rows->front() : FigureRow();
}

OverlayFamily FamilyOf(const std::string& name) {
  for (const OverlayFamily& family : OverlayFamilies()) {
    if (family.name == name) return family;
  }
  return {};
}

TEST(FigureRunTest, TheBoundIsTheTightestOneOverTheDraws) {
  const OverlayFamily family = FamilyOf("internet2_drawn");
  const double mean_bps = (RateBoundBps(family.draw(1)) + RateBoundBps(family.draw(2))) / 2;
  const FigureRow row = RowOf(FigureOf("internet2_drawn", 2));
  EXPECT_NEAR(row.bound_bps, mean_bps, 1);
  EXPECT_GT(row.rate_bps, 0);
  EXPECT_LT(row.rate_bps, row.bound_bps);
}

TEST(FigureRunTest, AFamilyOfOneDrawIsSimulatedWithOtherLosses) {
  Figure figure = FigureOf("cloud9", 1);
  const FigureRow first = RowOf(figure);
  figure.seeds = {2};
  const FigureRow second = RowOf(figure);
  EXPECT_EQ(first.bound_bps, second.bound_bps);
  EXPECT_NE(first.rate_bps, second.rate_bps);
  figure.seeds = {1, 2};
  EXPECT_NEAR(RowOf(figure).rate_bps, (first.rate_bps + second.rate_bps) / 2, 1);
}

TEST(FigureRunTest, PointsAreInOrderAndRelativeToTheirBaseline) {
  Figure figure = FigureOf("hub_and_mesh_4", 1);
  figure.points.push_back(figure.points.front());
  figure.points.back().value = "star";
  figure.points.back().point.overlay.topology.planner = "star";
  figure.points.back().baseline = figure.points.back().point;
  size_t done = 0;
  const absl::StatusOr<std::vector<FigureRow>> rows = RunFigure(figure, [&done](size_t points) { done = points; });
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(done, 2u);
  EXPECT_EQ(rows->at(0).relative, 0);
  EXPECT_EQ(rows->at(1).value, "star");
  EXPECT_EQ(rows->at(1).relative, 1);
}

// Who is told all is as fast as itself from the first round on. Who is told the nodes of a sparse network has a path
// between every two of them, and takes longer at first.
TEST(FigureRunTest, LearningIsComparedWithWhoKnows) {
  Figure figure = FigureOf("internet2", 1);
  figure.table = FigureTable::kLearning;
  figure.rounds = 7;
  figure.points.front().point.model_bytes = 10 * 1000 * 1000;
  figure.points.push_back(figure.points.front());
  figure.points.back().point.told = ToldLinks::Kind::kNodes;
  const absl::StatusOr<std::vector<FigureRow>> rows = RunFigure(figure, [](size_t) {});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->at(0).near_after_seconds, 0);
  EXPECT_NEAR(rows->at(0).later_ratio, 1, 0.05);
  EXPECT_NEAR(rows->at(0).first_ratio, 1, 0.05);
  EXPECT_GT(rows->at(1).near_after_seconds, 0);
  EXPECT_GT(rows->at(1).first_ratio, 1.1);
}

}  // namespace
}  // namespace banyan
