#include "topology/advice/upgrade_advice.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/packing/tree_packing.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Kind = NetworkCapacity::Kind;

// What a scheme on both ways of a link can do at the most is the slower of them.
TEST(UpgradeAdviceTest, OfTwoNodesTheSlowerWayIsWorthAll) {
  const absl::StatusOr<UpgradeAdvice> advice = AdviseUpgrades(SampleNetwork(2, {{1, 2, 10}, {2, 1, 40}}));
  ASSERT_TRUE(advice.ok()) << advice.status();
  EXPECT_NEAR(advice->rate_bps, 10e6, 1);
  ASSERT_THAT(advice->upgrades, SizeIs(1));
  EXPECT_NEAR(advice->upgrades[0].worth, 1, 1e-6);
  EXPECT_NEAR(advice->upgrades[0].doubled_rate_bps, 20e6, 1);
  ASSERT_THAT(advice->spare, SizeIs(1));
  EXPECT_EQ(advice->spare[0], (NetworkCapacity{Kind::kLink, 1}));
}

TEST(UpgradeAdviceTest, WhereTwoWaysBindAloneNeitherIsWorthAnything) {
  const absl::StatusOr<UpgradeAdvice> advice = AdviseUpgrades(SampleNetwork(2, {{1, 2, 10}, {2, 1, 10}}));
  ASSERT_TRUE(advice.ok()) << advice.status();
  EXPECT_THAT(advice->upgrades, IsEmpty());
  EXPECT_THAT(advice->spare, IsEmpty());
}

TEST(UpgradeAdviceTest, ACapOfAHostThatBindsIsNamed) {
  NetworkView view = CompleteNetwork(4, 100);
  view = WithCapacity(view, {Kind::kDown, 2}, 30e6);
  const absl::StatusOr<UpgradeAdvice> advice = AdviseUpgrades(view);
  ASSERT_TRUE(advice.ok()) << advice.status();
  ASSERT_THAT(advice->upgrades, Not(IsEmpty()));
  EXPECT_EQ(advice->upgrades[0].capacity, (NetworkCapacity{Kind::kDown, 2}));
  EXPECT_THAT(NameOf(advice->upgrades[0].capacity, view), HasSubstr("receives"));
  EXPECT_NEAR(advice->upgrades[0].worth, 1, 1e-3);
}

// Packs anew, knowing nothing of the advice.
double BestRateBps(const NetworkView& view) {
  PackingOptions options{.roots = std::vector<size_t>(view.nodes().size()),
                         .seeds = {},
                         .candidates = {},
                         .accuracy = 1e-7,
                         .work = 50 * PackingWork(view.nodes().size())};
  std::iota(options.roots.begin(), options.roots.end(), size_t{0});
  return PackTrees(CapacityGraph(view), options).rate_bps;
}

// Of all capacities, those that are worth nothing too.
void ExpectPredictsUpgrades(const NetworkView& view) {
  const absl::StatusOr<UpgradeAdvice> advice = AdviseUpgrades(view);
  ASSERT_TRUE(advice.ok()) << advice.status();
  EXPECT_NEAR(advice->rate_bps, advice->bound_bps, 1e-5 * advice->bound_bps);
  for (const NumberedCapacity& numbered : CapacitiesOf(view)) {
    const auto advised =
        std::find_if(advice->upgrades.begin(), advice->upgrades.end(),
                     [&numbered](const Upgrade& upgrade) { return upgrade.capacity == numbered.capacity; });
    const double worth = advised == advice->upgrades.end() ? 0 : advised->worth;
    const double more_bps = 0.005 * numbered.bps;
    const double gain_bps =
        BestRateBps(WithCapacity(view, numbered.capacity, numbered.bps + more_bps)) - advice->rate_bps;
    EXPECT_NEAR(gain_bps, worth * more_bps, 0.02 * gain_bps + 1e-5 * advice->rate_bps)
        << NameOf(numbered.capacity, view);
  }
}

TEST(UpgradeAdviceTest, WhatASmallUpgradeIsWorthAgreesWithPlanningAgain) {
  ExpectPredictsUpgrades(Internet2Network());
  if (std::getenv("BANYAN_LONG") == nullptr) return;
  ExpectPredictsUpgrades(Cloud9Network());
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    ExpectPredictsUpgrades(RandomNetwork(static_cast<int>(4 + seed % 7), 3, seed));
  }
}

TEST(UpgradeAdviceTest, ALargeUpgradeIsWorthNoMorePerMbitThanASmallOne) {
  const absl::StatusOr<UpgradeAdvice> advice = AdviseUpgrades(Internet2Network());
  ASSERT_TRUE(advice.ok()) << advice.status();
  ASSERT_THAT(advice->upgrades, Not(IsEmpty()));
  for (const Upgrade& upgrade : advice->upgrades) {
    EXPECT_LE(upgrade.doubled_rate_bps, advice->rate_bps + 1.001 * upgrade.worth * upgrade.capacity_bps);
  }
}

TEST(UpgradeAdviceTest, WhatIsSpareCanBeHalvedTogether) {
  NetworkView view = Internet2Network();
  const absl::StatusOr<UpgradeAdvice> advice = AdviseUpgrades(view);
  ASSERT_TRUE(advice.ok()) << advice.status();
  for (const NumberedCapacity& numbered : CapacitiesOf(view)) {
    const bool is_spare =
        std::find(advice->spare.begin(), advice->spare.end(), numbered.capacity) != advice->spare.end();
    if (is_spare) view = WithCapacity(view, numbered.capacity, numbered.bps / 2);
  }
  EXPECT_NEAR(AdviseUpgrades(view)->rate_bps, advice->rate_bps, 1e-5 * advice->rate_bps);
}

TEST(UpgradeAdviceTest, NetworksThatCannotBeAdvisedAreRefused) {
  EXPECT_EQ(AdviseUpgrades(SampleNetwork(1, {})).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(AdviseUpgrades(CompleteNetwork(kMostAdvisedNodes + 1, 1)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(AdviseUpgrades(SampleNetwork(2, {{1, 2, 1}})).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace banyan
