#include "topology/policy_difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "topology/planner.h"
#include "topology/sample_networks.h"

namespace banyan {
namespace {

Policy Planned(const NetworkView& view, bool auxiliary) {
  PlannerConfig config;
  config.auxiliary = auxiliary;
  return *MakePolicy(view, config);
}

// The same network with one link at another rate, or without it at a rate of 0.
NetworkView Changed(const NetworkView& view, uint32_t from, uint32_t to, double mbps) {
  std::vector<NetworkLink> links;
  for (NetworkLink link : view.links()) {
    if (link.from == NodeId(from) && link.to == NodeId(to)) link.throughput_bps = mbps * 1e6;
    if (link.throughput_bps > 0) links.push_back(link);
  }
  return *NetworkView::Create({view.nodes().begin(), view.nodes().end()}, links);
}

TEST(PolicyDifferenceTest, OnItsOwnViewItIsThePolicysRate) {
  const NetworkView view = Internet2Network();
  for (const bool auxiliary : {false, true}) {
    const Policy policy = Planned(view, auxiliary);
    EXPECT_NEAR(RateOn(policy, view) / policy.detour_rate_bps, 1, 1e-9);
    EXPECT_FALSE(PromisesGain(policy, policy, view, 0));
  }
}

TEST(PolicyDifferenceTest, AReplanGainsWhenABusyLinkGetsSlow) {
  const NetworkView view = Internet2Network();
  const NetworkView slow = Changed(view, 5, 2, 7.8);
  for (const bool auxiliary : {false, true}) {
    const Policy old = Planned(view, auxiliary);
    const Policy fresh = Planned(slow, auxiliary);
    EXPECT_LT(RateOn(old, slow), 0.5 * RateOn(old, view));
    EXPECT_TRUE(PromisesGain(old, fresh, slow, 0.5));
  }
}

TEST(PolicyDifferenceTest, NoiseGainsNothing) {
  const NetworkView view = Internet2Network();
  const NetworkView noisy = Changed(Changed(view, 8, 9, 71.5), 6, 9, 147);
  EXPECT_FALSE(PromisesGain(Planned(view, true), Planned(noisy, true), noisy, 0.05));
}

TEST(PolicyDifferenceTest, VanishedLinksCarryNothing) {
  const NetworkView view = Internet2Network();
  const NetworkView without = Changed(view, 5, 7, 0);
  EXPECT_EQ(RateOn(Planned(view, false), without), 0);
  EXPECT_GT(RateOn(Planned(view, true), without), 0);
  EXPECT_TRUE(PromisesGain(Planned(view, false), Planned(without, false), without, 10));
}

TEST(PolicyDifferenceTest, OtherMembersHaveNoRate) {
  const NetworkView view = CompleteNetwork(4, 10);
  const NetworkView part = *view.Restrict({NodeId(1), NodeId(2), NodeId(3)});
  EXPECT_EQ(RateOn(Planned(view, true), part), 0);
  EXPECT_EQ(RateOn(Planned(part, true), view), 0);
}

TEST(PolicyDifferenceTest, ALoneNodeHasNothingToGain) {
  const NetworkView view = SampleNetwork(1, {});
  const Policy policy = Planned(view, true);
  EXPECT_TRUE(std::isinf(RateOn(policy, view)));
  EXPECT_FALSE(PromisesGain(policy, policy, view, 0.05));
}

}  // namespace
}  // namespace banyan
