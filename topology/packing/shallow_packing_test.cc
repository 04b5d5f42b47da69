#include <gtest/gtest.h>

#include <map>
#include <set>

#include "topology/evaluation/simple_bound.h"
#include "topology/packing/dense_packing.h"
#include "topology/packing/packed_trees.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

ShallowPacking Packed(const NetworkView& view, const ShallowStyle& style = {}) {
  ShallowPackingOptions options{.roots = {}, .bound_bps = SimpleBoundBps(view), .style = style};
  for (size_t root = 0; root < view.nodes().size(); ++root) options.roots.push_back(root);
  return PackShallow(CapacityGraph(view), options);
}

std::vector<NetworkView> Networks() {
  return {CompleteNetwork(12, 100), WithCaps(CompleteNetwork(12, 100), 300, 300),
          MeshNetwork(MeshRates::kUneven, 30, 1), MeshNetwork(MeshRates::kHeavyTails, 30, 1), RandomNetwork(30, 15, 1)};
}

TEST(ShallowPackingTest, KeepsToCapacitiesAndLevels) {
  for (const NetworkView& view : Networks()) {
    const CapacityGraph graph(view);
    for (const size_t levels : {2, 4}) {
      const ShallowPacking packing = Packed(view, {.levels = levels});
      std::vector<double> loads(graph.capacities_bps().size(), 0);
      for (size_t i = 0; i < packing.halves.size(); ++i) {
        graph.AddLoad(packing.halves[i].links, packing.volumes_bps[i], loads);
        EXPECT_LE(DelayOfHalf(graph, packing.halves[i], std::vector<double>(graph.links().size(), 1)),
                  static_cast<double>(levels));
      }
      for (size_t i = 0; i < loads.size(); ++i) EXPECT_LE(loads[i], graph.capacities_bps()[i] * (1 + 1e-9));
    }
  }
}

TEST(ShallowPackingTest, BothHalvesOfARootSumToTheSame) {
  for (const NetworkView& view : Networks()) {
    const ShallowPacking packing = Packed(view);
    std::map<size_t, double> sums;
    double rate_bps = 0;
    for (size_t i = 0; i < packing.halves.size(); ++i) {
      const bool is_reduce = packing.halves[i].half == Half::kReduce;
      sums[packing.halves[i].root] += is_reduce ? packing.volumes_bps[i] : -packing.volumes_bps[i];
      if (is_reduce) rate_bps += packing.volumes_bps[i];
    }
    for (const auto& [root, difference] : sums) EXPECT_NEAR(difference, 0, 1);
    EXPECT_NEAR(rate_bps, packing.rate_bps, 1);
    EXPECT_EQ(std::set<HalfTree>(packing.halves.begin(), packing.halves.end()).size(), packing.halves.size());
  }
}

TEST(ShallowPackingTest, EqualPairsNeedOneStarForEachNode) {
  const ShallowPacking packing = Packed(CompleteNetwork(20, 100));
  EXPECT_NEAR(packing.rate_bps, 1000e6, 1e3);
  EXPECT_EQ(packing.halves.size(), 40u);
}

TEST(ShallowPackingTest, KeepsToItsRoots) {
  const NetworkView view = CompleteNetwork(10, 100);
  const ShallowPackingOptions options{.roots = {2, 5}, .bound_bps = SimpleBoundBps(view), .style = {}};
  const ShallowPacking packing = PackShallow(CapacityGraph(view), options);
  EXPECT_GT(packing.rate_bps, 0);
  for (const HalfTree& half : packing.halves) EXPECT_TRUE(half.root == 2 || half.root == 5);
}

TEST(ShallowPackingTest, WithoutShallowTreesItIsEmpty) {
  const NetworkView line = SampleNetwork(
      6,
      {{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {3, 2, 1}, {3, 4, 1}, {4, 3, 1}, {4, 5, 1}, {5, 4, 1}, {5, 6, 1}, {6, 5, 1}});
  const ShallowPacking packing = Packed(line);
  EXPECT_EQ(packing.rate_bps, 0);
  EXPECT_TRUE(packing.halves.empty());
}

}  // namespace
}  // namespace banyan
