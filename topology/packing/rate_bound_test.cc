#include "topology/packing/rate_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "topology/evaluation/simple_bound.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(RateBoundTest, KnownNetworks) {
  EXPECT_NEAR(RateBoundBps(TriangleNetwork()), 12.45e6, 0.02e6);
  EXPECT_NEAR(RateBoundBps(CompleteNetwork(4, 1)), 2e6, 2e3);
  EXPECT_NEAR(RateBoundBps(Internet2Network()), 110e6, 0.2e6);
  EXPECT_NEAR(RateBoundBps(WithCaps(CompleteNetwork(8, 100), 1, 1)), 1e6 * 8 / 14, 1e3);
}

TEST(RateBoundTest, IsNeverAboveTheOthers) {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const NetworkView view = RandomNetwork(5 + 2 * static_cast<int>(seed), 4, seed);
    EXPECT_LE(RateBoundBps(view), SimpleBoundBps(view));
    EXPECT_LE(RateBoundBps(view), PartitionBoundBps(view));
  }
}

TEST(RateBoundTest, NothingToSendNoBound) {
  EXPECT_TRUE(std::isinf(RateBoundBps(NetworkView())));
  EXPECT_TRUE(std::isinf(RateBoundBps(SampleNetwork(1, {}))));
}

TEST(RateBoundTest, WhatIsDisconnectedHasASimpleBound) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 1}, {2, 1, 1}});
  EXPECT_EQ(RateBoundBps(view), SimpleBoundBps(view));
}

}  // namespace
}  // namespace banyan
