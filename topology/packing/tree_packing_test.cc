#include "topology/packing/tree_packing.h"

#include <gtest/gtest.h>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TreePacking Packed(const NetworkView& view, int64_t work) {
  PackingOptions options{.roots = {}, .seeds = {}, .candidates = {}, .accuracy = 1e-3, .work = work};
  for (size_t root = 0; root < view.nodes().size(); ++root) options.roots.push_back(root);
  return PackTrees(CapacityGraph(view), options);
}

TreePacking Packed(const NetworkView& view) { return Packed(view, PackingWork(view.nodes().size())); }

void ExpectWithinCapacity(const NetworkView& view, const TreePacking& packing) {
  const CapacityGraph graph(view);
  std::vector<double> loads(graph.capacities_bps().size(), 0);
  for (size_t i = 0; i < packing.halves.size(); ++i) {
    EXPECT_EQ(packing.halves[i].links.size() + 1, graph.nodes());
    EXPECT_GE(packing.volumes_bps[i], 0);
    graph.AddLoad(packing.halves[i].links, packing.volumes_bps[i], loads);
  }
  for (size_t i = 0; i < loads.size(); ++i) EXPECT_LE(loads[i], graph.capacities_bps()[i] * (1 + 1e-6));
}

void ExpectProven(const NetworkView& view, const TreePacking& packing) {
  const double proven_bps = PriceBoundBps(view, CertificateOf(CapacityGraph(view), packing));
  EXPECT_NEAR(proven_bps, packing.bound_bps, 1e-6 * packing.bound_bps);
  EXPECT_LE(packing.rate_bps, packing.bound_bps * (1 + 1e-6));
}

TEST(TreePackingTest, KnownRates) {
  EXPECT_NEAR(Packed(TriangleNetwork()).rate_bps, 12.45e6, 0.02e6);
  EXPECT_NEAR(Packed(CompleteNetwork(4, 1)).rate_bps, 2e6, 2e3);
  EXPECT_NEAR(Packed(Internet2Network()).rate_bps, 110e6, 0.2e6);
  EXPECT_NEAR(Packed(WithCaps(CompleteNetwork(8, 100), 1, 1)).rate_bps, 1e6 * 8 / 14, 1e3);
}

TEST(TreePackingTest, FitsAndProvesItsBound) {
  for (const NetworkView& view : {TriangleNetwork(), Internet2Network(), WithCaps(Internet2Network(), 100, 90),
                                  RandomNetwork(9, 8, 1), HubAndMeshNetwork(8, 100, 5), GeometricNetwork(20, 4, 1)}) {
    const TreePacking packing = Packed(view);
    EXPECT_GE(packing.rate_bps, (1 - 1e-3) * packing.bound_bps);
    ExpectWithinCapacity(view, packing);
    ExpectProven(view, packing);
  }
}

TEST(TreePackingTest, WithoutWorkItReturnsWhatItHas) {
  const NetworkView view = RandomNetwork(12, 6, 3);
  const TreePacking packing = Packed(view, 0);
  EXPECT_GT(packing.rate_bps, 0);
  ExpectWithinCapacity(view, packing);
  ExpectProven(view, packing);
  EXPECT_LT(packing.rate_bps, Packed(view).rate_bps);
}

TEST(TreePackingTest, KeepsToItsRoots) {
  PackingOptions options{.roots = {2, 5}, .seeds = {}, .candidates = {}, .accuracy = 1e-3, .work = PackingWork(9)};
  const TreePacking packing = PackTrees(CapacityGraph(Internet2Network()), options);
  for (const HalfTree& half : packing.halves) EXPECT_TRUE(half.root == 2 || half.root == 5);
  EXPECT_GT(packing.rate_bps, 76e6);
}

}  // namespace
}  // namespace banyan
