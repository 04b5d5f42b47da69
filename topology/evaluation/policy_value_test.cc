#include "topology/evaluation/policy_value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

Policy Planned(const NetworkView& view, bool auxiliary) {
  PlannerConfig config;
  config.planner = "fapt";
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

double RateOn(const NetworkView& view, Policy policy) {
  ValueOn(view, {}, policy);
  return policy.auxiliary_rate_bps;
}

TEST(PolicyValueTest, OnItsOwnViewNothingChanges) {
  const NetworkView view = Internet2Network();
  for (const bool auxiliary : {false, true}) {
    const Policy policy = Planned(view, auxiliary);
    Policy again = policy;
    ValueOn(view, {}, again);
    EXPECT_EQ(again, policy);
  }
}

TEST(PolicyValueTest, AReplanGainsWhenABusyLinkGetsSlow) {
  const NetworkView view = Internet2Network();
  const NetworkView slow = Changed(view, 5, 2, 7.8);
  for (const bool auxiliary : {false, true}) {
    const Policy old = Planned(view, auxiliary);
    EXPECT_LT(RateOn(slow, old), 0.5 * RateOn(view, old));
    EXPECT_GT(Planned(slow, auxiliary).auxiliary_rate_bps, 1.5 * RateOn(slow, old));
  }
}

TEST(PolicyValueTest, AuxiliaryPathsTakeTheirPartsOfToday) {
  const NetworkView view = Internet2Network();
  const Policy old = Planned(view, true);
  Policy now = old;
  ValueOn(Changed(view, 5, 2, 7.8), {}, now);
  const auto taken = [](const Policy& policy) {
    double sum = 0;
    for (const Route& auxiliary_path : policy.auxiliary) {
      if (auxiliary_path.from == NodeId(5) && auxiliary_path.to == NodeId(2)) sum += auxiliary_path.share;
    }
    return sum;
  };
  EXPECT_GT(taken(now), taken(old));
  EXPECT_LE(taken(now), 1 + 1e-9);
}

TEST(PolicyValueTest, NoiseGainsNothing) {
  const NetworkView view = Internet2Network();
  const NetworkView noisy = Changed(Changed(view, 8, 9, 71.5), 6, 9, 147);
  EXPECT_LT(Planned(noisy, true).auxiliary_rate_bps, 1.05 * RateOn(noisy, Planned(view, true)));
}

TEST(PolicyValueTest, VanishedLinksCarryNothing) {
  const NetworkView view = Internet2Network();
  const NetworkView without = Changed(view, 5, 7, 0);
  EXPECT_EQ(RateOn(without, Planned(view, false)), 0);
  Policy on_auxiliary_path = Planned(view, true);
  ValueOn(without, {1000}, on_auxiliary_path);
  EXPECT_EQ(on_auxiliary_path.rate_bps, 0);
  EXPECT_GT(on_auxiliary_path.auxiliary_rate_bps, 0);
  EXPECT_LT(on_auxiliary_path.round_time, absl::InfiniteDuration());
}

TEST(PolicyValueTest, ARoundTakesLessTimeWithAuxiliaryPaths) {
  const NetworkView view = Internet2Network();
  Policy with = Planned(view, true);
  Policy without = Planned(view, false);
  EXPECT_EQ(with.round_time, absl::ZeroDuration());
  ValueOn(view, {61'000'000}, with);
  ValueOn(view, {61'000'000}, without);
  const double saved_s = 61e6 * 32 * (1 / with.rate_bps - 1 / with.auxiliary_rate_bps);
  EXPECT_NEAR(absl::ToDoubleSeconds(without.round_time - with.round_time), saved_s, 1e-6);
  EXPECT_GT(saved_s, 1);
}

TEST(PolicyValueTest, OtherMembersHaveNoRate) {
  const NetworkView view = CompleteNetwork(4, 10);
  const NetworkView part = *view.Restrict({NodeId(1), NodeId(2), NodeId(3)});
  EXPECT_EQ(RateOn(part, Planned(view, true)), 0);
  EXPECT_EQ(RateOn(view, Planned(part, true)), 0);
}

TEST(PolicyValueTest, ALoneNodeHasNoLimit) {
  const NetworkView view = SampleNetwork(1, {});
  EXPECT_TRUE(std::isinf(RateOn(view, Planned(view, true))));
}

}  // namespace
}  // namespace banyan
