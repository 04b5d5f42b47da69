#include "topology/evaluation/plan_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/planners/shortest_paths.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

Policy Planned(const NetworkView& view, PlannerConfig config) {
  absl::StatusOr<Policy> policy = MakePolicy(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : Policy();
}

PlannerConfig AllRoots() {
  PlannerConfig config;
  config.planner = "fapt";
  return config;
}

NetworkView WithCaps(const NetworkView& view, std::optional<double> up_bps, std::optional<double> down_bps) {
  std::vector<NetworkNode> nodes(view.nodes().begin(), view.nodes().end());
  nodes[0].up_cap_bps = up_bps;
  nodes[0].down_cap_bps = down_bps;
  return *NetworkView::Create(nodes, {view.links().begin(), view.links().end()});
}

TEST(PlanRateTest, TriangleFact) { EXPECT_NEAR(Planned(TriangleNetwork(), AllRoots()).rate_bps, 10e6, 1); }

TEST(PlanRateTest, CompleteGraphFact) {
  const Policy policy = Planned(CompleteNetwork(4, 1), AllRoots());
  EXPECT_NEAR(policy.rate_bps, 2e6, 1);
  EXPECT_NEAR(policy.bound_bps, policy.rate_bps, 1);
}

// Shares by the quality of both halves. An independent calculation with shares by the reduce half alone gives 58.8.
TEST(PlanRateTest, Internet2Fact) { EXPECT_NEAR(Planned(Internet2Network(), AllRoots()).rate_bps, 58.9e6, 0.05e6); }

TEST(PlanRateTest, Internet2FactWithSharesByTheReduceHalf) {
  const NetworkView view = Internet2Network();
  Policy policy = Planned(view, AllRoots());
  const ShortestPaths paths(view);
  double sum = 0;
  for (size_t i = 0; i < policy.trees.size(); ++i) sum += 1 / paths.ToRoot(i).Depth();
  for (size_t i = 0; i < policy.trees.size(); ++i) policy.trees[i].share = 1 / paths.ToRoot(i).Depth() / sum;
  EXPECT_NEAR(PlanRateBps(policy, view), 58.8e6, 0.05e6);
}

TEST(PlanRateTest, Internet2FactWithMirroredBroadcast) {
  const NetworkView view = Internet2Network();
  Policy policy = Planned(view, AllRoots());
  const ShortestPaths paths(view);
  double sum = 0;
  for (size_t i = 0; i < policy.trees.size(); ++i) sum += 1 / paths.ToRoot(i).Depth();
  for (size_t i = 0; i < policy.trees.size(); ++i) {
    policy.trees[i].share = 1 / paths.ToRoot(i).Depth() / sum;
    policy.trees[i].broadcast_parent = policy.trees[i].reduce_parent;
  }
  EXPECT_NEAR(PlanRateBps(policy, view), 30.5e6, 0.05e6);
}

TEST(PlanRateTest, StarsOnInternet2) {
  PlannerConfig config;
  config.planner = "star";
  std::vector<double> mbps;
  for (uint32_t hub = 1; hub <= 9; ++hub) {
    config.root = NodeId(hub);
    mbps.push_back(Planned(Internet2Network(), config).rate_bps / 1e6);
  }
  std::sort(mbps.begin(), mbps.end());
  EXPECT_NEAR(mbps.front(), 9.0, 0.05);
  EXPECT_NEAR(mbps[4], 13.0, 0.05);
  EXPECT_NEAR(mbps.back(), 19.5, 0.05);
}

TEST(PlanRateTest, LoadsOfRoutedEdgesFallOnEveryHop) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 6}, {2, 1, 6}, {2, 3, 6}, {3, 2, 6}});
  PlannerConfig config;
  config.planner = "star";
  config.root = NodeId(1);
  const Policy policy = Planned(view, config);
  EXPECT_EQ(LinkLoads(policy, view), (std::vector<double>{2, 2, 1, 1}));
  EXPECT_NEAR(policy.rate_bps, 3e6, 1);
}

TEST(PlanRateTest, HostCapsCount) {
  PlannerConfig config;
  config.planner = "star";
  config.root = NodeId(1);
  const NetworkView view = CompleteNetwork(4, 10);
  EXPECT_NEAR(Planned(view, config).rate_bps, 10e6, 1);
  EXPECT_NEAR(Planned(WithCaps(view, 6e6, std::nullopt), config).rate_bps, 2e6, 1);
  EXPECT_NEAR(Planned(WithCaps(view, std::nullopt, 3e6), config).rate_bps, 1e6, 1);
}

TEST(PlanRateTest, NoEdgesNoLimit) { EXPECT_TRUE(std::isinf(Planned(SampleNetwork(1, {}), AllRoots()).rate_bps)); }

TEST(PlanRateTest, SharedCapacitiesCount) {
  PlannerConfig config;
  config.planner = "star";
  config.root = NodeId(1);
  const NetworkView mesh = CompleteNetwork(4, 10);
  // Two leaves' links to the hub carry the model once each.
  const SharedCapacity shared{5e6, {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(1)}, {NodeId(2), NodeId(3)}}};
  const NetworkView view = *NetworkView::Create({mesh.nodes().begin(), mesh.nodes().end()},
                                                {mesh.links().begin(), mesh.links().end()}, {shared});
  const Policy policy = Planned(view, config);
  EXPECT_NEAR(policy.rate_bps, 2.5e6, 1);
  EXPECT_EQ(SharedLoadsOf(LinkLoads(policy, view), view), std::vector<double>{2});
}

}  // namespace
}  // namespace banyan
