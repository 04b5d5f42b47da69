#include "tools/wan_benchmark/ring_order.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

std::vector<size_t> AsTheyCome(const NetworkView& view) {
  std::vector<size_t> order(view.nodes().size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

TEST(RingOrderTest, TheMostLoadedLinkDecides) {
  const NetworkView mesh = CompleteNetwork(4, 30);
  EXPECT_DOUBLE_EQ(RingRateBps(mesh, {0, 1, 2, 3}), 30e6 * 4 / 6);
}

// Over n3 to n4, and round by n2 to n3, so that no link of less than 77 Mbit/s is crossed.
TEST(RingOrderTest, FindsTheRingOfInternet2) {
  const NetworkView view = Internet2Network();
  const std::vector<size_t> order = BestRingOrder(view);
  EXPECT_THAT(order, ::testing::ElementsAre(0, 3, 5, 8, 7, 6, 4, 1, 2));
  EXPECT_DOUBLE_EQ(RingRateBps(view, order), 77e6 * 9 / 16);
  EXPECT_LT(RingRateBps(view, AsTheyCome(view)), 77e6 * 9 / 16 / 2);
}

TEST(RingOrderTest, SwapsMakeLargeRingsNoWorse) {
  const NetworkView view = GeometricNetwork(20, 4, 1);
  EXPECT_GE(RingRateBps(view, BestRingOrder(view)), RingRateBps(view, AsTheyCome(view)));
}

}  // namespace
}  // namespace banyan
