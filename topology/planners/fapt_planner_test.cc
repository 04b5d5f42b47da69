#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "topology/planners/planners.h"
#include "topology/planners/route_table.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

Policy Planned(const NetworkView& view, const PlannerConfig& config) {
  absl::StatusOr<Policy> policy = PlanFapt(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : Policy();
}

PlannerConfig Roots(std::optional<int> roots) {
  PlannerConfig config;
  config.roots = roots;
  return config;
}

// The least delay of any arborescence on `root`: every node tries each of its links as the way to its parent.
// `delay_of(node, parent)` is infinite where no link is.
double BestOfAllTrees(int nodes, int root, const std::function<double(int, int)>& delay_of) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<int> parent(nodes, root);
  const std::function<double()> slowest_path = [&] {
    double slowest = 0;
    for (int node = 0; node < nodes; ++node) {
      double delay = 0;
      int steps = 0;
      for (int at = node; at != root; at = parent[at]) {
        if (++steps > nodes) return std::numeric_limits<double>::infinity();
        delay += delay_of(at, parent[at]);
      }
      slowest = std::max(slowest, delay);
    }
    return slowest;
  };
  const std::function<void(int)> choose = [&](int node) {
    if (node == nodes) {
      best = std::min(best, slowest_path());
      return;
    }
    if (node == root) return choose(node + 1);
    for (int candidate = 0; candidate < nodes; ++candidate) {
      if (candidate == node || delay_of(node, candidate) == std::numeric_limits<double>::infinity()) continue;
      parent[node] = candidate;
      choose(node + 1);
    }
  };
  choose(0);
  return best;
}

double LinkDelay(const NetworkView& view, int from, int to) {
  const NetworkLink* link = view.FindLink(view.nodes()[from].id, view.nodes()[to].id);
  return link == nullptr ? std::numeric_limits<double>::infinity() : 1 / link->throughput_bps;
}

TEST(FaptPlannerTest, NoTreeOfAnyShapeIsFaster) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const int nodes = 3 + static_cast<int>(seed % 4);
    const NetworkView view = RandomNetwork(nodes, 3, seed);
    RouteTable routes(&view);
    for (const Tree& tree : Planned(view, Roots(std::nullopt)).trees) {
      const int root = static_cast<int>(*view.IndexOf(tree.root));
      const TreeDelay delay = DelayOf(tree, routes);
      const double best_reduce =
          BestOfAllTrees(nodes, root, [&view](int node, int parent) { return LinkDelay(view, node, parent); });
      const double best_broadcast =
          BestOfAllTrees(nodes, root, [&view](int node, int parent) { return LinkDelay(view, parent, node); });
      EXPECT_DOUBLE_EQ(delay.reduce, best_reduce) << "seed " << seed << " root " << root;
      EXPECT_DOUBLE_EQ(delay.broadcast, best_broadcast) << "seed " << seed << " root " << root;
    }
  }
}

TEST(FaptPlannerTest, TriangleTreesGoOverTheMiddle) {
  const Policy policy = Planned(TriangleNetwork(), Roots(std::nullopt));
  ASSERT_EQ(policy.trees.size(), 3u);
  EXPECT_EQ(policy.trees[0].reduce_parent.at(NodeId(3)), NodeId(2));
  EXPECT_EQ(policy.trees[0].broadcast_parent.at(NodeId(3)), NodeId(2));
  EXPECT_DOUBLE_EQ(policy.trees[0].share, 0.25);
  EXPECT_DOUBLE_EQ(policy.trees[1].share, 0.5);
  EXPECT_DOUBLE_EQ(policy.trees[2].share, 0.25);
}

TEST(FaptPlannerTest, OneRootIsTheBestOrTheOneAskedFor) {
  PlannerConfig config = Roots(1);
  EXPECT_EQ(Planned(TriangleNetwork(), config).trees[0].root, NodeId(2));
  config.root = NodeId(3);
  const Policy policy = Planned(TriangleNetwork(), config);
  ASSERT_EQ(policy.trees.size(), 1u);
  EXPECT_EQ(policy.trees[0].root, NodeId(3));
  EXPECT_EQ(policy.trees[0].share, 1);
}

TEST(FaptPlannerTest, ARootThatIsAwayGivesWayToTheBest) {
  PlannerConfig config = Roots(1);
  config.root = NodeId(77);
  EXPECT_EQ(Planned(TriangleNetwork(), config).trees[0].root, NodeId(2));
}

TEST(FaptPlannerTest, EquallyGoodRootsAreChosenById) {
  const Policy policy = Planned(CompleteNetwork(5, 10), Roots(2));
  ASSERT_EQ(policy.trees.size(), 2u);
  EXPECT_EQ(policy.trees[0].root, NodeId(1));
  EXPECT_EQ(policy.trees[1].root, NodeId(2));
}

TEST(FaptPlannerTest, AllRootsAreAtMostThirtyTwo) {
  EXPECT_EQ(Planned(CompleteNetwork(32, 1), Roots(std::nullopt)).trees.size(), 32u);
  EXPECT_EQ(Planned(CompleteNetwork(33, 1), Roots(std::nullopt)).trees.size(), 32u);
  EXPECT_EQ(Planned(CompleteNetwork(33, 1), Roots(33)).trees.size(), 33u);
}

TEST(FaptPlannerTest, MoreRootsThanNodesMeansEveryNode) {
  EXPECT_EQ(Planned(TriangleNetwork(), Roots(8)).trees.size(), 3u);
}

TEST(FaptPlannerTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(PlanFapt(TriangleNetwork(), Roots(0)).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace banyan
