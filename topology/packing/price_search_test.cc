#include "topology/packing/price_search.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "topology/packing/price_bound.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(PriceSearchTest, KeepsTheLeastBoundAndItsPrices) {
  const NetworkView view = TriangleNetwork();
  const CapacityGraph graph(view);
  PriceSearch search(graph);
  EXPECT_TRUE(std::isinf(search.bound_bps()));
  std::vector<double> prices(graph.capacities_bps().size(), 0);
  std::fill(prices.begin(), prices.begin() + graph.links().size(), 1);
  search.Search(prices);
  // All links alike: their sum over twice the links of a tree.
  const double alike_bps = search.bound_bps();
  EXPECT_NEAR(alike_bps, 2 * (10e6 + 10e6 + 4.9e6) / 4, 1);
  EXPECT_NEAR(search.prices()[0], 0.25, 1e-12);
  EXPECT_NEAR(search.Cost(0), 4, 1e-12);
  EXPECT_EQ(search.Reduce(0).links.size(), 2u);
  EXPECT_EQ(search.Broadcast(1).half, Half::kBroadcast);
  // Worse prices prove less, and prices that cost nothing prove nothing.
  const std::vector<double> best = search.prices();
  prices[0] = 100;
  search.Search(prices);
  std::fill(prices.begin(), prices.end(), 0);
  search.Search(prices);
  EXPECT_EQ(search.bound_bps(), alike_bps);
  EXPECT_EQ(search.prices(), best);
}

TEST(PriceSearchTest, ItsBoundIsWhatThePricesProve) {
  const NetworkView view = Internet2Network();
  const CapacityGraph graph(view);
  PriceSearch search(graph);
  std::vector<double> prices(graph.capacities_bps().size(), 0);
  for (size_t i = 0; i < graph.links().size(); ++i) prices[i] = 1 + static_cast<double>(i % 3);
  search.Search(prices);
  const std::vector<double> links(prices.begin(), prices.begin() + graph.links().size());
  const std::vector<double> none(view.nodes().size(), 0);
  EXPECT_NEAR(PriceBoundBps(view, {links, none, none}), search.bound_bps(), 1);
}

}  // namespace
}  // namespace banyan
