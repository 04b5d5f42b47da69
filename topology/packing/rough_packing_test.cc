#include "topology/packing/rough_packing.h"

#include <gtest/gtest.h>

#include <set>

#include "topology/packing/price_bound.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

RoughPackingOptions Options(const NetworkView& view) {
  RoughPackingOptions options{.roots = {}, .step = 0.1, .accuracy = 0.05, .work = 10'000'000, .halves = 50};
  for (size_t root = 0; root < view.nodes().size(); ++root) options.roots.push_back(root);
  return options;
}

std::vector<NetworkView> Networks() {
  return {TriangleNetwork(), Internet2Network(), WithCaps(CompleteNetwork(8, 100), 1, 1), HubAndMeshNetwork(8, 100, 5),
          GeometricNetwork(30, 4, 1)};
}

TEST(RoughPackingTest, ComesAsCloseAsItIsAskedTo) {
  for (const NetworkView& view : Networks()) {
    const CapacityGraph graph(view);
    PriceSearch search(graph);
    const RoughPacking packing = PackRoughly(graph, Options(view), search);
    EXPECT_GE(packing.rate_bps, 0.95 * search.bound_bps());
    EXPECT_LE(packing.rate_bps, search.bound_bps() * (1 + 1e-9));
  }
}

TEST(RoughPackingTest, ItsPricesProveItsBound) {
  for (const NetworkView& view : Networks()) {
    const CapacityGraph graph(view);
    PriceSearch search(graph);
    PackRoughly(graph, Options(view), search);
    const auto up = search.prices().begin() + graph.Up(0);
    const auto down = search.prices().begin() + graph.Down(0);
    const CapacityPrices prices{{search.prices().begin(), up}, {up, down}, {down, search.prices().end()}};
    EXPECT_NEAR(PriceBoundBps(view, prices), search.bound_bps(), 1e-6 * search.bound_bps());
  }
}

TEST(RoughPackingTest, ReturnsDifferentHalfTreesOnItsRoots) {
  const NetworkView view = Internet2Network();
  RoughPackingOptions options = Options(view);
  options.roots = {1, 4};
  const CapacityGraph graph(view);
  PriceSearch search(graph);
  const RoughPacking packing = PackRoughly(graph, options, search);
  EXPECT_FALSE(packing.halves.empty());
  EXPECT_LE(packing.halves.size(), options.halves);
  EXPECT_EQ(std::set<HalfTree>(packing.halves.begin(), packing.halves.end()).size(), packing.halves.size());
  for (const HalfTree& half : packing.halves) EXPECT_TRUE(half.root == 1 || half.root == 4);
}

TEST(RoughPackingTest, WithoutWorkItTakesOneStep) {
  const NetworkView view = Internet2Network();
  RoughPackingOptions options = Options(view);
  options.work = 0;
  const CapacityGraph graph(view);
  PriceSearch search(graph);
  const RoughPacking packing = PackRoughly(graph, options, search);
  EXPECT_EQ(packing.halves.size(), 2u);
  EXPECT_GT(packing.rate_bps, 0);
  EXPECT_GE(search.bound_bps(), 110e6 * (1 - 1e-9));
}

}  // namespace
}  // namespace banyan
