#include <gtest/gtest.h>

#include <algorithm>

#include "topology/evaluation/simple_bound.h"
#include "topology/packing/price_bound.h"
#include "topology/packing/price_search.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

double ProvenBps(const CapacityGraph& graph, const std::vector<double>& prices) {
  PriceSearch search(graph);
  search.Search(prices);
  return search.bound_bps();
}

TEST(SimplePricesTest, ProveTheSimpleBound) {
  for (const NetworkView& view : {TriangleNetwork(), Internet2Network(), WithCaps(CompleteNetwork(8, 100), 1, 1),
                                  MeshNetwork(MeshRates::kHeavyTails, 20, 1)}) {
    const CapacityGraph graph(view);
    const std::vector<std::vector<double>> prices = SimplePrices(graph);
    ASSERT_EQ(prices.size(), 2u);
    const double proven_bps = std::min(ProvenBps(graph, prices[0]), ProvenBps(graph, prices[1]));
    EXPECT_NEAR(proven_bps, SimpleBoundBps(view), 1e-6 * proven_bps);
  }
}

// Two groups of three nodes with fast links, and slow ones between the groups: 18 of 1 Mbit/s cross, twice at least.
TEST(GroupPricesTest, LeaveOutLinksThatNobodyCanUse) {
  std::vector<SampleLink> links;
  for (uint32_t a = 1; a <= 6; ++a) {
    for (uint32_t b = 1; b <= 6; ++b) {
      if (a != b) links.push_back({a, b, (a <= 3) == (b <= 3) ? 1000.0 : 1.0});
    }
  }
  const NetworkView view = SampleNetwork(6, links);
  const CapacityGraph graph(view);
  EXPECT_NEAR(ProvenBps(graph, GroupPrices(graph)), 9e6, 1);
  EXPECT_GT(SimpleBoundBps(view), 1000e6);
}

TEST(GroupPricesTest, AmongEqualLinksEveryNodeIsAlone) {
  const CapacityGraph graph(CompleteNetwork(5, 1));
  const std::vector<double> prices = GroupPrices(graph);
  for (size_t link = 0; link < graph.links().size(); ++link) EXPECT_EQ(prices[link], 1);
}

}  // namespace
}  // namespace banyan
