#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/random.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/evaluation/policy_value.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/planners/shortest_paths.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

Policy Planned(const NetworkView& view, bool auxiliary, ShareRule shares = ShareRule::kQuality) {
  PlannerConfig config;
  config.planner = "fapt";
  config.auxiliary = auxiliary;
  config.shares = shares;
  return *MakePolicy(view, config);
}

double AuxiliaryMbps(const Policy& policy, const NetworkView& view) { return AuxiliaryRateBps(policy, view) / 1e6; }

void AddPaths(const NetworkView& view, std::vector<NodeId>& path, Route& route, std::vector<Route>& found) {
  for (const NetworkLink& link : view.LinksFrom(path.back())) {
    if (std::count(path.begin(), path.end(), link.to) > 0) continue;
    path.push_back(link.to);
    if (link.to != route.to) {
      AddPaths(view, path, route, found);
    } else if (path.size() > 2) {
      route.path = path;
      found.push_back(route);
    }
    path.pop_back();
  }
}

// What "ideal auxiliary paths" can use: every path between the ends of a tree edge.
std::vector<Route> AllAuxiliaryPaths(const Policy& policy, const NetworkView& view) {
  std::set<std::pair<NodeId, NodeId>> edges;
  for (const Tree& tree : policy.trees) {
    for (const auto& [node, parent] : tree.reduce_parent) edges.insert({node, parent});
    for (const auto& [node, parent] : tree.broadcast_parent) edges.insert({parent, node});
  }
  std::vector<Route> found;
  for (const auto& [from, to] : edges) {
    Route route{from, to, {}};
    std::vector<NodeId> path = {from};
    AddPaths(view, path, route, found);
  }
  return found;
}

// Sets shares by the quality of the reduce half alone: the independently computed rates below have them so.
void ShareByReduceHalf(const NetworkView& view, Policy& policy) {
  const ShortestPaths paths(view);
  double sum = 0;
  for (size_t i = 0; i < policy.trees.size(); ++i) sum += 1 / paths.ToRoot(i).Depth();
  for (size_t i = 0; i < policy.trees.size(); ++i) policy.trees[i].share = 1 / paths.ToRoot(i).Depth() / sum;
}

void ShareBalanced(const NetworkView& view, Policy& policy) {
  const std::vector<double> shares = BalancedShares(policy, view);
  for (size_t i = 0; i < shares.size(); ++i) policy.trees[i].share = shares[i];
}

TEST(AuxiliaryRateTest, Internet2FactWithEveryAuxiliaryPath) {
  const NetworkView view = Internet2Network();
  Policy policy = Planned(view, false);
  policy.auxiliary = AllAuxiliaryPaths(policy, view);
  ShareByReduceHalf(view, policy);
  EXPECT_NEAR(AuxiliaryMbps(policy, view), 67.8, 0.05);
  ShareBalanced(view, policy);
  EXPECT_NEAR(AuxiliaryMbps(policy, view), 83.4, 0.05);
}

// With shares by both halves even every auxiliary path gives no more than the link-disjoint ones do.
TEST(AuxiliaryRateTest, Internet2WithLinkDisjointAuxiliaryPaths) {
  const NetworkView view = Internet2Network();
  Policy policy = Planned(view, true);
  EXPECT_NEAR(policy.rate_bps / 1e6, 58.93, 0.01);
  EXPECT_NEAR(policy.auxiliary_rate_bps / 1e6, 66.25, 0.01);
  policy.auxiliary = AllAuxiliaryPaths(policy, view);
  EXPECT_NEAR(AuxiliaryMbps(policy, view), 66.25, 0.01);
}

TEST(AuxiliaryRateTest, Internet2WithBalancedShares) {
  const NetworkView view = Internet2Network();
  const Policy without = Planned(view, false, ShareRule::kBalanced);
  EXPECT_NEAR(without.rate_bps / 1e6, 76.0, 0.05);
  EXPECT_EQ(without.auxiliary_rate_bps, without.rate_bps);
  const Policy with = Planned(view, true, ShareRule::kBalanced);
  EXPECT_NEAR(with.auxiliary_rate_bps / 1e6, 83.0, 0.05);
  EXPECT_GT(with.rate_bps, 60e6);  // other shares with as high a rate leave only 54 without auxiliary paths
}

TEST(AuxiliaryRateTest, WithoutAuxiliaryPathsItIsThePlansRate) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const NetworkView view = RandomNetwork(6 + static_cast<int>(seed), 4, seed);
    const Policy policy = Planned(view, false);
    EXPECT_NEAR(AuxiliaryRateBps(policy, view) / policy.rate_bps, 1, 1e-9);
  }
}

// n1 and n2 exchange over a link of 10 and an auxiliary path over n3 of 4: 14, unless n3's own edges need the auxiliary
// path's links.
TEST(AuxiliaryRateTest, AuxiliaryPathsShareTheirLinksWithTheTrees) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {1, 3, 4}, {3, 1, 40}, {3, 2, 4}, {2, 3, 40}});
  Policy policy;
  policy.members = {NodeId(1), NodeId(2), NodeId(3)};
  policy.trees = {
      Tree{.root = NodeId(1), .share = 1, .reduce_parent = {{NodeId(2), NodeId(1)}}, .broadcast_parent = {}}};
  policy.auxiliary = {{NodeId(2), NodeId(1), {NodeId(2), NodeId(3), NodeId(1)}}};
  EXPECT_NEAR(AuxiliaryMbps(policy, view), 50, 1e-6);
  policy.trees[0].reduce_parent[NodeId(3)] = NodeId(1);
  EXPECT_NEAR(AuxiliaryMbps(policy, view), 25, 1e-6);
}

TEST(AuxiliaryRateTest, HostCapsCount) {
  const NetworkView links = CompleteNetwork(4, 10);
  std::vector<NetworkNode> nodes(links.nodes().begin(), links.nodes().end());
  nodes[0].up_cap_bps = 6e6;
  nodes[1].down_cap_bps = 5e6;
  const NetworkView view = *NetworkView::Create(nodes, {links.links().begin(), links.links().end()});
  const Policy policy = Planned(view, true);
  EXPECT_LE(policy.auxiliary_rate_bps, 5e6 * (1 + 1e-9));
  EXPECT_GE(policy.auxiliary_rate_bps, policy.rate_bps * (1 - 1e-9));
}

TEST(AuxiliaryRateTest, PathsOverVanishedLinksCarryNothing) {
  const NetworkView triangle = TriangleNetwork();
  const Policy policy = Planned(triangle, true);
  const NetworkView without = SampleNetwork(3, {{2, 1, 10}, {2, 3, 10}, {3, 2, 10}, {1, 3, 4.9}, {3, 1, 4.9}});
  EXPECT_GT(AuxiliaryRateBps(policy, without), 0);
  EXPECT_LE(AuxiliaryMbps(policy, without), 4.9);
  Policy bare = policy;
  bare.auxiliary.clear();
  EXPECT_EQ(AuxiliaryRateBps(bare, without), 0);
}

TEST(AuxiliaryRateTest, NoEdgesNoLimit) {
  const NetworkView view = SampleNetwork(1, {});
  const Policy policy = Planned(view, true, ShareRule::kBalanced);
  EXPECT_TRUE(std::isinf(AuxiliaryRateBps(policy, view)));
  EXPECT_EQ(BalancedShares(policy, view), std::vector<double>{1});
}

TEST(BalancedSharesTest, SumToOneAndBeatEveryOtherDivision) {
  Random random(1);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const NetworkView view = RandomNetwork(6 + static_cast<int>(seed), 4, seed);
    for (const bool auxiliary : {false, true}) {
      Policy policy = Planned(view, auxiliary);
      Policy best = policy;
      ShareBalanced(view, best);
      double sum = 0;
      for (const Tree& tree : best.trees) sum += tree.share;
      EXPECT_NEAR(sum, 1, 1e-9);
      const double best_bps = AuxiliaryRateBps(best, view);
      for (int i = 0; i < 20; ++i) {
        EXPECT_GE(best_bps * (1 + 1e-3), AuxiliaryRateBps(policy, view));
        sum = 0;
        for (Tree& tree : policy.trees) sum += tree.share = static_cast<double>(random.Below(1000)) + 1;
        for (Tree& tree : policy.trees) tree.share /= sum;
      }
    }
  }
}

// Rates between a kilobit and a hundred gigabits per second in one overlay.
TEST(AuxiliaryRateTest, SurvivesUnevenNetworks) {
  Random random(7);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const NetworkView even = RandomNetwork(4 + static_cast<int>(seed % 20), 4, seed);
    std::vector<NetworkLink> links(even.links().begin(), even.links().end());
    for (NetworkLink& link : links) {
      link.throughput_bps = std::pow(10, 3 + static_cast<double>(random.Below(8000)) / 1000);
    }
    const NetworkView view = *NetworkView::Create({even.nodes().begin(), even.nodes().end()}, links);
    for (const ShareRule shares : {ShareRule::kQuality, ShareRule::kBalanced}) {
      const Policy policy = Planned(view, true, shares);
      const double rate_bps = AuxiliaryRateBps(policy, view);
      EXPECT_GE(rate_bps, policy.rate_bps * (1 - 1e-9));
      EXPECT_LE(rate_bps, policy.bound_bps * (1 + 1e-9));
    }
  }
}

}  // namespace
}  // namespace banyan
