#include <gtest/gtest.h>

#include <cmath>

#include "topology/planners/route_table.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(TreeDelayTest, SlowestPathOfEachHalfInItsDirection) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 1}, {2, 1, 2}, {2, 3, 4}, {3, 2, 5}});
  RouteTable routes(&view);
  const std::map<NodeId, NodeId> chain = {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(2)}};
  const TreeDelay delay =
      DelayOf({.root = NodeId(1), .share = 1, .reduce_parent = chain, .broadcast_parent = chain}, routes);
  EXPECT_DOUBLE_EQ(delay.reduce, 1 / 2e6 + 1 / 5e6);
  EXPECT_DOUBLE_EQ(delay.broadcast, 1 / 1e6 + 1 / 4e6);
  EXPECT_DOUBLE_EQ(delay.Quality(), 1 / (delay.reduce + delay.broadcast));
}

TEST(TreeDelayTest, RoutedEdgesCountWhole) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 1}, {2, 1, 2}, {2, 3, 4}, {3, 2, 5}});
  RouteTable routes(&view);
  const std::map<NodeId, NodeId> star = {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(1)}};
  const TreeDelay delay =
      DelayOf({.root = NodeId(1), .share = 1, .reduce_parent = star, .broadcast_parent = star}, routes);
  EXPECT_DOUBLE_EQ(delay.reduce, 1 / 5e6 + 1 / 2e6);
}

// NETSTORM's Theorem 1: a parent that waits for its children is as late as the slowest path below it. The recursion
// over subtrees, which is how a tree really works, gives the same as the longest sum along a path.
TEST(TreeDelayTest, EqualsTheRecursionOverSubtrees) {
  const NetworkView view = CompleteNetwork(7, 1);
  RouteTable routes(&view);
  const std::map<NodeId, NodeId> parents = {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(1)}, {NodeId(4), NodeId(2)},
                                            {NodeId(5), NodeId(2)}, {NodeId(6), NodeId(5)}, {NodeId(7), NodeId(3)}};
  const TreeDelay delay =
      DelayOf({.root = NodeId(1), .share = 1, .reduce_parent = parents, .broadcast_parent = parents}, routes);
  const double hop = 1 / 1e6;
  const double subtree5 = hop;
  const double subtree2 = std::max(hop, hop + subtree5);
  const double subtree3 = hop;
  EXPECT_DOUBLE_EQ(delay.reduce, std::max(subtree2 + hop, subtree3 + hop));
}

TEST(TreeDelayTest, ALoneNodeHasInfiniteQuality) {
  const NetworkView view = SampleNetwork(1, {});
  RouteTable routes(&view);
  EXPECT_TRUE(std::isinf(
      DelayOf({.root = NodeId(1), .share = 1, .reduce_parent = {}, .broadcast_parent = {}}, routes).Quality()));
}

}  // namespace
}  // namespace banyan
