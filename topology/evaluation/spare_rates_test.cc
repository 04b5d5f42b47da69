#include "gtest/gtest.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr NodeId kA(1), kB(2), kC(3);

// One tree on a whose only children are b and c; nothing between b and c.
Policy StarPolicy(double rate_bps) {
  Policy policy;
  policy.members = {kA, kB, kC};
  policy.trees = {Tree{kA, 1, {{kB, kA}, {kC, kA}}, {{kB, kA}, {kC, kA}}}};
  policy.rate_bps = rate_bps;
  return policy;
}

TEST(SpareRatesTest, TheTightestLinkDecides) {
  const NetworkView view = CompleteNetwork(3, 10);
  const SpareRates half(StarPolicy(5e6), view);
  EXPECT_NEAR(half.SpareOf({kB, kC}), 1, 1e-12);
  EXPECT_NEAR(half.SpareOf({kB, kC, kA}), 0.5, 1e-12);
  EXPECT_NEAR(SpareRates(StarPolicy(10e6), view).SpareOf({kB, kC, kA}), 0, 1e-12);
  // Never below nothing, should links have become slower.
  EXPECT_EQ(SpareRates(StarPolicy(20e6), view).SpareOf({kB, kC, kA}), 0);
}

TEST(SpareRatesTest, ARelaysCapsCountAndThoseOfTheEndsDoNot) {
  const NetworkView view = WithCaps(CompleteNetwork(3, 1000), 100, 4);
  const SpareRates capped(StarPolicy(1e6), view);
  // c sends and receives 1 of 100 and 4 Mbit/s, a 2 of both.
  EXPECT_NEAR(capped.SpareOf({kB, kC, kA}), 0.75, 1e-12);
  EXPECT_NEAR(capped.SpareOf({kB, kA, kC}), 0.5, 1e-12);
  EXPECT_NEAR(capped.SpareOf({kB, kA}), 0.999, 1e-12);
}

TEST(SpareRatesTest, TellsLinksThatNoTreeUses) {
  const NetworkView view = CompleteNetwork(3, 10);
  const SpareRates rates(StarPolicy(5e6), view);
  EXPECT_TRUE(rates.CrossesIdleLink({kA, kB, kC}));
  EXPECT_FALSE(rates.CrossesIdleLink({kB, kA, kC}));
}

}  // namespace
}  // namespace banyan
