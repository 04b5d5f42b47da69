// What only the packed planner promises; planner_conformance_test.cc holds the rest.
#include "topology/packing/packed_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr double kLeastRatio = 0.97;

Policy Planned(const NetworkView& view, const PlannerConfig& config = {}) {
  absl::StatusOr<Policy> policy = PlanPacked(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : Policy();
}

double Ratio(const NetworkView& view) {
  const Policy policy = Planned(view);
  EXPECT_TRUE(ValidatePolicy(policy, view).ok()) << ValidatePolicy(policy, view);
  return policy.rate_bps / policy.bound_bps;
}

TEST(PackedPlannerTest, KnownRates) {
  EXPECT_NEAR(Planned(Internet2Network()).rate_bps, 110e6, 1.1e6);
  EXPECT_NEAR(Planned(TriangleNetwork()).rate_bps, 12.45e6, 0.1e6);
  EXPECT_NEAR(Planned(CompleteNetwork(4, 1)).rate_bps, 2e6, 2);
  EXPECT_NEAR(Planned(WithCaps(CompleteNetwork(8, 100), 1, 1)).rate_bps, 1e6 * 8 / 14, 1e3);
}

TEST(PackedPlannerTest, HasTreesWhereRoundingErrorsLeaveTheSolverNone) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(R"(
nodes: [{name: n0}, {name: n1}, {name: n2}]
links:
- {between: [n0, n1], mbps: [1e-6, 1e9]}
- {between: [n1, n2], mbps: [1e-6, 1e-6]}
shared: [{links: [[n1, n2], [n0, n1]], mbps: 0.001}]
)",
                                                             "extremes.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  const NetworkView view = MakeNetworkView(*overlay);
  const Policy policy = Planned(view);
  EXPECT_FALSE(policy.trees.empty());
  EXPECT_TRUE(ValidatePolicy(policy, view).ok()) << ValidatePolicy(policy, view);
  EXPECT_LE(policy.rate_bps, 1.01 * policy.bound_bps);
}

TEST(PackedPlannerTest, IsCloseToTheBoundOnTheNineDataCentres) {
  for (uint64_t seed = 1; seed <= 30; ++seed) EXPECT_GE(Ratio(DrawnInternet2Network(seed)), kLeastRatio) << seed;
}

TEST(PackedPlannerTest, IsCloseToTheBoundOnTheNineRegions) {
  EXPECT_GE(Ratio(Cloud9Network()), kLeastRatio);
  EXPECT_GE(Ratio(WithCaps(Cloud9Network(), 5000, 5000)), kLeastRatio);
}

TEST(PackedPlannerTest, IsCloseToTheBoundOnMeshes) {
  for (uint64_t seed = 1; seed <= 12; ++seed) EXPECT_GE(Ratio(RandomNetwork(9, 8, seed)), kLeastRatio) << seed;
  for (const int leaves : {4, 8}) EXPECT_GE(Ratio(HubAndMeshNetwork(leaves, 100, 5)), kLeastRatio) << leaves;
}

TEST(PackedPlannerTest, IsCloseToTheBoundOnLargerNetworks) {
  EXPECT_GE(Ratio(GeometricNetwork(20, 4, 1)), kLeastRatio);
  EXPECT_GE(Ratio(GeometricNetwork(50, 4, 1)), 0.9);
  for (const uint64_t seed : {1, 3}) EXPECT_GE(Ratio(GeometricNetwork(100, 4, seed)), 0.9) << seed;
}

TEST(PackedPlannerTest, KeepsToAsManyRootsAsItMayUse) {
  PlannerConfig config;
  config.roots = 2;
  std::set<NodeId> roots;
  for (const Tree& tree : Planned(Internet2Network(), config).trees) roots.insert(tree.root);
  EXPECT_LE(roots.size(), 2u);
  config.roots = 1;
  config.root = NodeId(4);
  for (const Tree& tree : Planned(Internet2Network(), config).trees) EXPECT_EQ(tree.root, NodeId(4));
}

// The longest way of the tree's chunks, in edges.
size_t Depth(const Tree& tree) {
  size_t depth = 0;
  for (const std::map<NodeId, NodeId>* parents : {&tree.reduce_parent, &tree.broadcast_parent}) {
    size_t most = 0;
    for (const auto& [node, parent] : *parents) {
      size_t edges = 1;
      for (NodeId at = parent; at != tree.root; at = parents->at(at)) ++edges;
      most = std::max(most, edges);
    }
    depth += most;
  }
  return depth;
}

double MeanDepth(const Policy& policy) {
  double depth = 0;
  for (const Tree& tree : policy.trees) depth += tree.share * static_cast<double>(Depth(tree));
  return depth;
}

TEST(PackedPlannerTest, TradesRateForShallowTrees) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const NetworkView view = RandomNetwork(9, 8, seed);
    const absl::StatusOr<std::vector<Policy>> policies = PlanPackedEach(view, {}, {0.0, 0.1, 0.2});
    ASSERT_TRUE(policies.ok()) << policies.status();
    ASSERT_EQ(policies->size(), 3u);
    EXPECT_EQ((*policies)[0].trees, Planned(view).trees);
    for (size_t i = 1; i < 3; ++i) {
      const Policy& policy = (*policies)[i];
      EXPECT_TRUE(ValidatePolicy(policy, view).ok()) << ValidatePolicy(policy, view);
      EXPECT_GE(policy.rate_bps, (1 - 0.1 * static_cast<double>(i) - 1e-3) * (*policies)[0].rate_bps);
      EXPECT_LT(MeanDepth(policy), MeanDepth(policies->front())) << seed;
    }
  }
}

// Where every two nodes have a link, trees of two levels each way use all of them. Those of a packing have eight in the
// mean.
TEST(PackedPlannerTest, AFullMeshNeedsNoDeepTrees) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const NetworkView view = RandomNetwork(9, 8, seed);
    const Policy policy = Planned(view);
    EXPECT_GT(policy.rate_bps, 0.99 * policy.bound_bps) << seed;
    EXPECT_LT(MeanDepth(policy), 4.2) << seed;
  }
}

TEST(PackedPlannerTest, AnOverlayMayAskForIt) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(
      "nodes: [{name: a}, {name: b}]\nlinks: [{between: [a, b], mbps: 10}]\ntopology: {planner: packed}\n", "test");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  const NetworkView view = MakeNetworkView(*overlay);
  EXPECT_EQ(MakePolicy(view, *MakePlannerConfig(*overlay, view))->planner, "packed");
}

TEST(PackedPlannerTest, BeginsWithTheCurrentTrees) {
  const NetworkView view = Internet2Network();
  PlannerConfig config;
  config.current_trees = Planned(view).trees;
  const Policy again = Planned(view, config);
  EXPECT_NEAR(again.rate_bps, 110e6, 1.1e6);
  // Trees of another overlay do no harm.
  EXPECT_TRUE(ValidatePolicy(Planned(RandomNetwork(9, 3, 1), config), RandomNetwork(9, 3, 1)).ok());
  EXPECT_TRUE(ValidatePolicy(Planned(RandomNetwork(6, 3, 1), config), RandomNetwork(6, 3, 1)).ok());
}

TEST(PackedPlannerTest, AuxiliaryPathsNeverMakeItSlower) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const NetworkView view = DrawnInternet2Network(seed);
    PlannerConfig config;
    config.planner = "packed";
    config.auxiliary = true;
    for (const ShareRule shares : {ShareRule::kQuality, ShareRule::kBalanced}) {
      config.shares = shares;
      const Policy policy = *MakePolicy(view, config);
      EXPECT_GE(policy.auxiliary_rate_bps, (1 - 1e-6) * Planned(view).rate_bps);
      EXPECT_LE(policy.auxiliary_rate_bps, (1 + 1e-6) * policy.bound_bps);
    }
  }
}

}  // namespace
}  // namespace banyan
