#include "topology/packing/price_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

CapacityPrices Free(const NetworkView& view) {
  return {std::vector<double>(view.links().size(), 0), std::vector<double>(view.nodes().size(), 0),
          std::vector<double>(view.nodes().size(), 0)};
}

TEST(PriceBoundTest, EqualPricesProveTheSumOfAllLinks) {
  for (const NetworkView& view : {TriangleNetwork(), CompleteNetwork(4, 1), Internet2Network()}) {
    CapacityPrices prices = Free(view);
    double sum = 0;
    for (size_t i = 0; i < view.links().size(); ++i) {
      prices.links[i] = 3;
      sum += view.links()[i].throughput_bps;
    }
    EXPECT_NEAR(PriceBoundBps(view, prices), sum / (2 * static_cast<double>(view.nodes().size() - 1)), 1e-3);
  }
}

TEST(PriceBoundTest, PricesOnOneNodeProveItsSum) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 50}, {2, 1, 50}, {2, 3, 1}, {3, 2, 50}});
  CapacityPrices prices = Free(view);
  for (size_t i = 0; i < view.links().size(); ++i) prices.links[i] = view.links()[i].to == NodeId(3) ? 1 : 0;
  EXPECT_NEAR(PriceBoundBps(view, prices), 1e6, 1e-3);
}

TEST(PriceBoundTest, PricesOnCapsCountAtBothEnds) {
  const NetworkView view = WithCaps(CompleteNetwork(8, 100), 1, 1);
  CapacityPrices prices = Free(view);
  prices.up.assign(8, 1);
  EXPECT_NEAR(PriceBoundBps(view, prices), 1e6 * 8 / 14, 1e-3);
  prices.down.assign(8, 1);
  EXPECT_NEAR(PriceBoundBps(view, prices), 1e6 * 8 / 14, 1e-3);
}

TEST(PriceBoundTest, WhatAreNoPricesProvesNothing) {
  const NetworkView view = TriangleNetwork();
  CapacityPrices prices = Free(view);
  EXPECT_TRUE(std::isinf(PriceBoundBps(view, prices)));
  prices.links.assign(6, 1);
  EXPECT_TRUE(std::isfinite(PriceBoundBps(view, prices)));
  prices.up[0] = 1;  // there is no cap
  EXPECT_TRUE(std::isinf(PriceBoundBps(view, prices)));
  prices.up[0] = 0;
  prices.links[2] = -1e-9;
  EXPECT_TRUE(std::isinf(PriceBoundBps(view, prices)));
  prices.links[2] = std::nan("");
  EXPECT_TRUE(std::isinf(PriceBoundBps(view, prices)));
  prices.links.pop_back();
  EXPECT_TRUE(std::isinf(PriceBoundBps(view, prices)));
}

TEST(PriceBoundTest, NothingToSendNoBound) {
  EXPECT_TRUE(std::isinf(PriceBoundBps(NetworkView(), {})));
  EXPECT_TRUE(std::isinf(PriceBoundBps(SampleNetwork(1, {}), {{}, {0}, {0}})));
  EXPECT_TRUE(std::isinf(PriceBoundBps(SampleNetwork(2, {{1, 2, 1}}), {{1}, {0, 0}, {0, 0}})));
}

}  // namespace
}  // namespace banyan
