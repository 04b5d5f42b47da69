#include "sim/runs/simulation.h"

#include "core/random.h"
#include "gtest/gtest.h"
#include "sim/overlays.h"
#include "sim/testing/sample_simulations.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(SimulationTest, NineTreesOnInternet2ReachNineTenthsOfTheirPlan) {
  SimulationOptions options = Internet2Simulation(244000000, 2);
  options.overlay.topology.planner = "fapt";
  options.overlay.multipath.enabled = false;
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rounds.size(), 2u);
  EXPECT_NEAR(report->plan_rate_bps, 58.9e6, 1e5);
  EXPECT_GT(report->rate_bps, 0.9 * report->plan_rate_bps);
  EXPECT_LT(report->rate_bps, 1.05 * report->plan_rate_bps);
  EXPECT_TRUE(report->replicas_identical);
}

// The fluid rates of these trees with ideal auxiliary paths: with shares by quality and with balanced ones.
TEST(SimulationTest, AuxiliaryPathsOnInternet2ReachNineTenthsOfWhatIdealOnesWould) {
  for (const auto& [shares, fluid_bps] : {std::pair(ShareRule::kQuality, 67.8e6), {ShareRule::kBalanced, 83.4e6}}) {
    SimulationOptions options = Internet2Simulation(244000000, 3);
    options.overlay.topology.planner = "fapt";
    options.overlay.topology.shares = shares;
    const absl::StatusOr<SimulationReport> report = Simulate(options);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_GT(report->rate_bps, 0.9 * fluid_bps);
    EXPECT_LT(report->rate_bps, 1.05 * fluid_bps);
    EXPECT_TRUE(report->replicas_identical);
  }
}

TEST(SimulationTest, LinksCarryWhatTheTreesPutOnThem) {
  SimulationOptions options;
  OverlayShape shape;
  shape.nodes = 3;
  shape.links = 2;
  Random random(1);
  options.overlay = RandomOverlay(shape, &random);
  options.overlay.topology.roots = 1;
  options.tensor_elements = {1000000, 250000};
  options.rounds = 4;
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->links.size(), 4u);
  // One tree of two edges: every link carries each round's model once, and headers.
  for (const SimulationReport::LinkReport& link : report->links) {
    EXPECT_NEAR(static_cast<double>(link.bytes), 4 * 5e6, 0.03 * 4 * 5e6);
  }
}

// From n1 bytes are dear and fast; between the others slow and cheap.
TEST(SimulationTest, AJobKeepsItsBudget) {
  SimulationOptions options = Internet2Simulation(10000000, 8);
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(
      "nodes: [{name: n1, price_per_gb: 0.1}, {name: n2}, {name: n3}, {name: n4}]\n"
      "links: [{between: [n1, n2], mbps: 100}, {between: [n1, n3], mbps: 100}, {between: [n1, n4], mbps: 100},\n"
      "        {between: [n2, n3], mbps: 20, price_per_gb: 0.01}, {between: [n3, n4], mbps: 30, price_per_gb: 0.02}]\n"
      "topology: {budget_per_round: 0.0016}\n",
      "priced.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  options.overlay = *overlay;
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  const NetworkView view = MakeNetworkView(*overlay);
  double price = 0;
  for (const SimulationReport::LinkReport& link : report->links) {
    price += static_cast<double>(link.bytes) / 1e9 * view.FindLink(link.from, link.to)->price_per_gb / 8;
  }
  EXPECT_LT(price, 1.03 * 0.0016) << "with headers and control messages";
  EXPECT_GT(price, 0.9 * 0.0016);
  options.overlay.topology.budget_per_round.reset();
  EXPECT_LT(Simulate(options)->synchronisation_p50, 0.8 * report->synchronisation_p50) << "who pays more is faster";
}

TEST(SimulationTest, HeadersAndAcknowledgementsMakeRoundsLonger) {
  SimulationOptions options = Internet2Simulation(46000000, 2);
  const absl::StatusOr<SimulationReport> without = Simulate(options);
  options.headers = true;
  const absl::StatusOr<SimulationReport> with = Simulate(options);
  ASSERT_TRUE(without.ok()) << without.status();
  ASSERT_TRUE(with.ok()) << with.status();
  const double longer = absl::FDivDuration(with->synchronisation_p50, without->synchronisation_p50);
  // Headers alone take 52 of 1500 bytes; acknowledgements 52 more for two packets of the other direction.
  EXPECT_GT(longer, 1500.0 / 1448);
  EXPECT_LT(longer, 1.12);
}

TEST(SimulationTest, FaultsCostTimeAndNothingElse) {
  SimulationOptions options = Internet2Simulation(20000000, 3);
  const absl::StatusOr<SimulationReport> smooth = Simulate(options);
  options.faults = true;
  const absl::StatusOr<SimulationReport> faulty = Simulate(options);
  ASSERT_TRUE(smooth.ok()) << smooth.status();
  ASSERT_TRUE(faulty.ok()) << faulty.status();
  EXPECT_TRUE(faulty->replicas_identical);
  EXPECT_GT(faulty->simulated, smooth->simulated);
  EXPECT_NE(faulty->trace_hash, smooth->trace_hash);
}

// A job on many uneven links chooses small chunks. Cores that carry a part of each vector choose them as well.
TEST(SimulationTest, ChunksThatSuitTheModelAreSimulated) {
  const NetworkView view = MeshNetwork(MeshRates::kUneven, 16, 1);
  SimulationOptions options;
  options.overlay = OverlayOf(view);
  options.tensor_elements = {11'500'000};
  options.rounds = 2;
  PlannerConfig config = *MakePlannerConfig(options.overlay, view);
  config.tensors = {11'500'000};
  const absl::StatusOr<Policy> planned = MakePolicy(view, config);
  ASSERT_TRUE(planned.ok()) << planned.status();
  ASSERT_LT(planned->chunk_max_elements, options.overlay.chunks.max_elements);
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GT(report->scale, 1);
  const double ratio = report->synchronisation_p50 / planned->round_time;
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 1.06);
}

TEST(SimulationTest, APlannersErrorIsTold) {
  SimulationOptions options = Internet2Simulation(4000, 1);
  options.overlay.topology.planner = "oak";
  EXPECT_EQ(Simulate(options).status().code(), absl::StatusCode::kNotFound);
  options.overlay.topology.planner = "fapt";
  options.overlay.links->resize(2);
  EXPECT_EQ(Simulate(options).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SimulationTest, ACapThatLetsNextToNothingThroughIsTold) {
  SimulationOptions options = Internet2Simulation(46000000, 1);
  options.overlay.nodes[3].up_cap_bps = 1;
  const absl::Status status = Simulate(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("up_mbps"), std::string::npos) << status;
}

TEST(SimulationTest, AJobThatIsToldTheNodesAloneNeedsALinkForEachPair) {
  SimulationOptions options = Internet2Simulation(4000000, 1);
  options.told.kind = ToldLinks::Kind::kNodes;
  EXPECT_EQ(Simulate(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace banyan
