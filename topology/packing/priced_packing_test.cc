#include "topology/packing/priced_packing.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

NetworkView Priced(const NetworkView& view, const std::vector<double>& prices) {
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (size_t i = 0; i < links.size(); ++i) links[i].price_per_gb = prices[i % prices.size()];
  return *view.WithLinks(links);
}

PackingOptions AllRoots(size_t nodes) {
  PackingOptions options{
      .roots = std::vector<size_t>(nodes), .seeds = {}, .candidates = {}, .work = 10 * PackingWork(nodes)};
  std::iota(options.roots.begin(), options.roots.end(), size_t{0});
  return options;
}

double PriceOf(const TreePacking& packing, const PriceLimit& limit) {
  double price = 0;
  for (size_t i = 0; i < packing.halves.size(); ++i) {
    price += packing.volumes_bps[i] * limit.PriceOf(packing.halves[i]);
  }
  return price / packing.rate_bps;
}

// Between two nodes both ways are needed, whatever they cost.
TEST(PricedPackingTest, WhatCannotBePaidHasNoRate) {
  const NetworkView view = Priced(SampleNetwork(2, {{1, 2, 10}, {2, 1, 40}}), {1, 2});
  const CapacityGraph graph(view);
  EXPECT_EQ(FindCheapestTree(graph, PriceLimit(view, 0), {0, 1}).price, 3);
  EXPECT_NEAR(PackWithin(graph, AllRoots(2), PriceLimit(view, 3)).rate_bps, 10e6, 1);
  EXPECT_NEAR(PackWithin(graph, AllRoots(2), PriceLimit(view, 2.9)).rate_bps, 0, 1);
}

TEST(PricedPackingTest, MoneyBuysRateUpToThatWithoutALimit) {
  const NetworkView view = Priced(Internet2Network(), {0.01, 0.09, 0.02, 0.15, 0.05});
  const CapacityGraph graph(view);
  const PackingOptions options = AllRoots(graph.nodes());
  const double least = FindCheapestTree(graph, PriceLimit(view, 0), options.roots).price;
  const TreePacking unlimited = PackTrees(graph, options);
  std::vector<double> seconds_per_bit;
  for (int i = 0; i <= 6; ++i) {
    const PriceLimit limit(view, least * (1 + 0.1 * i));
    const TreePacking packing = PackWithin(graph, options, limit);
    ASSERT_GT(packing.rate_bps, 0);
    EXPECT_LE(PriceOf(packing, limit), (1 + 1e-6) * limit.most);
    EXPECT_LE(packing.rate_bps, (1 + 1e-6) * unlimited.bound_bps);
    seconds_per_bit.push_back(1 / packing.rate_bps);
  }
  for (size_t i = 2; i < seconds_per_bit.size(); ++i) {
    const double saved = seconds_per_bit[i - 1] - seconds_per_bit[i];
    EXPECT_GE(saved, -1e-6 * seconds_per_bit[i]);
    EXPECT_LE(saved, seconds_per_bit[i - 2] - seconds_per_bit[i - 1] + 1e-3 * seconds_per_bit[i]) << "it is convex";
  }
  EXPECT_GT(seconds_per_bit.front(), 1.05 * seconds_per_bit.back());
  EXPECT_NEAR(PackWithin(graph, options, PriceLimit(view, 16 * 0.15)).rate_bps, unlimited.rate_bps,
              1e-3 * unlimited.rate_bps);
}

}  // namespace
}  // namespace banyan
