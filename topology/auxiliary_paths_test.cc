#include "topology/auxiliary_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// One tree on n1 whose reduce half is only the edge from n2 to n1, for the paths of that edge alone.
std::vector<std::string> PathsTo1From2(const NetworkView& view, const AuxiliaryLimits& limits = {},
                                       const std::vector<Route>& routes = {}) {
  Policy policy;
  policy.trees = {
      Tree{.root = NodeId(1), .share = 1, .reduce_parent = {{NodeId(2), NodeId(1)}}, .broadcast_parent = {}}};
  policy.routes = routes;
  std::vector<std::string> found;
  for (const Route& route : FindAuxiliaryPaths(policy, view, limits)) {
    EXPECT_EQ(route.from, NodeId(2));
    EXPECT_EQ(route.to, NodeId(1));
    std::string& text = found.emplace_back();
    for (const NodeId node : route.path) text += std::to_string(node.value());
  }
  return found;
}

using Paths = std::vector<std::string>;

TEST(AuxiliaryPathsTest, TheFastestComeFirst) {
  const NetworkView view =
      SampleNetwork(5, {{2, 1, 10}, {2, 3, 10}, {3, 1, 10}, {2, 4, 10}, {4, 1, 20}, {2, 5, 5}, {5, 1, 5}});
  EXPECT_EQ(PathsTo1From2(view), (Paths{"241", "231", "251"}));
}

// The direction that data flows: other directions of the same links do not matter.
TEST(AuxiliaryPathsTest, LinksAreDirected) {
  EXPECT_EQ(PathsTo1From2(SampleNetwork(3, {{2, 1, 10}, {3, 2, 10}, {1, 3, 10}})), Paths{});
}

TEST(AuxiliaryPathsTest, AuxiliaryPathsShareNoLink) {
  const NetworkView view =
      SampleNetwork(5, {{2, 1, 10}, {2, 3, 10}, {3, 1, 10}, {2, 4, 10}, {4, 3, 30}, {3, 5, 30}, {5, 1, 10}});
  EXPECT_EQ(PathsTo1From2(view), (Paths{"231", "24351"}));
}

TEST(AuxiliaryPathsTest, TiesGoToFewerHopsThenLowerIds) {
  const NetworkView hops = SampleNetwork(5, {{2, 1, 10}, {2, 3, 20}, {3, 4, 20}, {4, 1, 20}, {2, 5, 20}, {5, 1, 10}});
  EXPECT_EQ(PathsTo1From2(hops), (Paths{"251", "2341"}));
  EXPECT_EQ(PathsTo1From2(CompleteNetwork(5, 10)), (Paths{"231", "241", "251"}));
}

TEST(AuxiliaryPathsTest, LimitsTheirNumber) {
  AuxiliaryLimits limits{.max_paths_per_edge = 2};
  EXPECT_EQ(PathsTo1From2(CompleteNetwork(9, 10), limits), (Paths{"231", "241"}));
  limits = {.max_paths_per_edge = 4, .max_paths = 3};
  EXPECT_EQ(PathsTo1From2(CompleteNetwork(9, 10), limits).size(), 3u);
  limits = {.max_paths = 0};
  EXPECT_EQ(PathsTo1From2(CompleteNetwork(9, 10), limits).size(), 1u);
  limits = {.max_edges = 0};
  EXPECT_EQ(PathsTo1From2(CompleteNetwork(9, 10), limits).size(), 0u);
}

TEST(AuxiliaryPathsTest, LeavesOutWhatIsTooSlow) {
  const NetworkView view = SampleNetwork(4, {{2, 1, 10}, {2, 3, 5}, {3, 1, 5}, {2, 4, 5}, {4, 1, 4.9}});
  EXPECT_EQ(PathsTo1From2(view, {.max_slowdown = 4}), (Paths{"231"}));
  EXPECT_EQ(PathsTo1From2(view, {.max_slowdown = 5}), (Paths{"231", "241"}));
}

TEST(AuxiliaryPathsTest, RoutedEdgesAvoidTheirRoute) {
  const NetworkView view = SampleNetwork(4, {{2, 3, 10}, {3, 1, 10}, {2, 4, 10}, {4, 1, 10}});
  EXPECT_EQ(PathsTo1From2(view, {}, {{NodeId(2), NodeId(1), {NodeId(2), NodeId(3), NodeId(1)}}}), (Paths{"241"}));
}

TEST(AuxiliaryPathsTest, RatesMayDifferByAnything) {
  const NetworkView view = SampleNetwork(4, {{2, 1, 1e9}, {2, 3, 1e-6}, {3, 1, 1e9}, {2, 4, 1e9}, {4, 1, 1e8}});
  EXPECT_EQ(PathsTo1From2(view), (Paths{"241"}));
  EXPECT_EQ(PathsTo1From2(view, {.max_slowdown = 1e300}), (Paths{"241", "231"}));
}

using Edge = std::pair<NodeId, NodeId>;

double Delay(const NetworkView& view, const std::vector<NodeId>& path) {
  double delay = 0;
  for (size_t i = 1; i < path.size(); ++i) delay += 1 / view.FindLink(path[i - 1], path[i])->throughput_bps;
  return delay;
}

// Bellman-Ford without the taken links: infinite when no path is left.
double ShortestDelay(const NetworkView& view, NodeId from, NodeId to, const std::set<Edge>& taken) {
  std::map<NodeId, double> delay;
  delay[from] = 0;
  bool changed = true;
  while (changed) {
    changed = false;
    for (const NetworkLink& link : view.links()) {
      if (delay.count(link.from) == 0 || taken.count({link.from, link.to}) > 0) continue;
      const double through = delay[link.from] + 1 / link.throughput_bps;
      if (delay.count(link.to) > 0 && delay[link.to] <= through) continue;
      delay[link.to] = through;
      changed = true;
    }
  }
  return delay.count(to) == 0 ? std::numeric_limits<double>::infinity() : delay[to];
}

// Against a search that shares nothing with the one under test.
TEST(AuxiliaryPathsTest, AreTheShortestPathsOfWhatIsLeft) {
  std::vector<NetworkView> networks = {Internet2Network(), TriangleNetwork(), CompleteNetwork(7, 3)};
  for (uint64_t seed = 1; seed <= 8; ++seed) networks.push_back(RandomNetwork(5 + static_cast<int>(seed), 4, seed));
  for (const NetworkView& view : networks) {
    Policy policy = *MakePolicy(view, PlannerConfig());
    policy.auxiliary = FindAuxiliaryPaths(policy, view, {.max_paths_per_edge = 100, .max_slowdown = 1e12});
    EXPECT_TRUE(ValidatePolicy(policy, view).ok()) << ValidatePolicy(policy, view);
    std::map<Edge, std::set<Edge>> taken;
    for (const Tree& tree : policy.trees) {
      for (const auto& [node, parent] : tree.reduce_parent) taken[{node, parent}] = {{node, parent}};
      for (const auto& [node, parent] : tree.broadcast_parent) taken[{parent, node}] = {{parent, node}};
    }
    for (const Route& route : policy.auxiliary) {
      std::set<Edge>& links = taken.at({route.from, route.to});
      const double shortest = ShortestDelay(view, route.from, route.to, links);
      EXPECT_NEAR(Delay(view, route.path) / shortest, 1, 1e-5);
      for (size_t i = 1; i < route.path.size(); ++i) links.insert({route.path[i - 1], route.path[i]});
    }
    for (const auto& [edge, links] : taken) {
      EXPECT_TRUE(std::isinf(ShortestDelay(view, edge.first, edge.second, links)));
    }
  }
}

}  // namespace
}  // namespace banyan
