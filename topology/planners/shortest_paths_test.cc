#include "topology/planners/shortest_paths.h"

#include <gtest/gtest.h>

#include <cmath>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(ShortestPathsTest, PrefersAFastAuxiliaryPath) {
  const ShortestPaths paths(TriangleNetwork());
  const ShortestPathTree tree = paths.ToRoot(0);
  EXPECT_EQ(tree.parent, (std::vector<size_t>{0, 0, 1}));
  EXPECT_DOUBLE_EQ(tree.distance[2], 0.2e-6);
  EXPECT_DOUBLE_EQ(tree.Depth(), 0.2e-6);
}

TEST(ShortestPathsTest, DirectionsAreTheirOwn) {
  // Around the ring 1 -> 2 -> 3 -> 1 it is fast, the other way slow.
  const ShortestPaths paths(SampleNetwork(3, {{1, 2, 10}, {2, 3, 10}, {3, 1, 10}, {2, 1, 1}, {3, 2, 1}, {1, 3, 1}}));
  EXPECT_EQ(paths.ToRoot(0).parent, (std::vector<size_t>{0, 2, 0}));
  EXPECT_EQ(paths.FromRoot(0).parent, (std::vector<size_t>{0, 0, 1}));
}

TEST(ShortestPathsTest, EquallyFastParentsAreChosenById) {
  // n4 reaches n1 over n2 or n3 alike.
  for (const bool swapped : {false, true}) {
    std::vector<SampleLink> links = {{2, 1, 5}, {3, 1, 5}, {4, 2, 5}, {4, 3, 5}};
    if (swapped) std::swap(links[2], links[3]);
    EXPECT_EQ(ShortestPaths(SampleNetwork(4, links)).ToRoot(0).parent[3], 1u);
  }
}

TEST(ShortestPathsTest, UnreachableIsInfinite) {
  const ShortestPaths paths(SampleNetwork(2, {{1, 2, 1}}));
  EXPECT_TRUE(std::isinf(paths.ToRoot(0).distance[1]));
  EXPECT_EQ(paths.ToRoot(0).parent[1], 1u);
}

TEST(ShortestPathsTest, RatesOfManyOrdersOfMagnitudeGiveNoCycle) {
  const ShortestPathTree tree =
      ShortestPaths(SampleNetwork(4, {{2, 1, 1e-6}, {3, 2, 1e9}, {2, 3, 1e9}, {4, 3, 1e9}, {3, 4, 1e9}, {4, 1, 1e-6}}))
          .ToRoot(0);
  for (size_t node = 0; node < 4; ++node) {
    size_t at = node;
    for (int steps = 0; steps < 4; ++steps) at = tree.parent[at];
    EXPECT_EQ(at, 0u);
  }
}

}  // namespace
}  // namespace banyan
