// Hundreds of random jobs under random faults that they are to outlive: no checker may find a violation, nobody may
// hang, and the same seed must give the same trace. BANYAN_SIM_SEEDS says how many seeds.
#include "sim/faults/fault_seeds.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "sim/faults/fault_scenario.h"

namespace banyan {
namespace {

constexpr int kBlocks = 16;
constexpr uint64_t kDefaultSeeds = 320;

uint64_t Seeds() {
  uint64_t seeds = 0;
  const char* text = std::getenv("BANYAN_SIM_SEEDS");
  return text != nullptr && absl::SimpleAtoi(text, &seeds) ? seeds : kDefaultSeeds;
}

FaultOutcome RunSeed(uint64_t seed, const std::vector<FaultKind>& kinds = AllFaultKinds(),
                     bool may_have_quorum = true) {
  FaultOutcome outcome = RunFaultSeed(seed, kinds, {}, may_have_quorum);
  EXPECT_TRUE(outcome.violations.empty()) << "seed " << seed << "\n" << outcome.violations;
  return outcome;
}

class FaultSeedsTest : public testing::TestWithParam<int> {};

TEST_P(FaultSeedsTest, NoRuleBreaks) {
  for (uint64_t seed = GetParam(); seed < Seeds(); seed += kBlocks) RunSeed(seed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FaultSeedsTest, testing::Range(0, kBlocks));

// Connections could not fall silent then.
std::vector<FaultKind> WithoutSilences(std::vector<FaultKind> kinds) {
  std::erase_if(kinds, IsSilence);
  return kinds;
}

// Seeds that failed before jobs had optimizers are run without.
void RunRegression(uint64_t seed, const std::vector<FaultKind>& kinds, bool has_states) {
  FaultScenario scenario = MakeFaultScenario(seed, kinds, /*may_have_optimizer=*/false);
  if (!has_states) scenario.cluster.plan.state_bytes = 0;
  const FaultOutcome outcome = RunFaultScenario(scenario, {});
  EXPECT_TRUE(outcome.violations.empty()) << "seed " << seed << "\n" << outcome.violations;
}

TEST(FaultRegressionTest, SeedsThatFailedOncePass) {
  for (const RegressionSeed& regression : kFaultRegressionSeeds) {
    SCOPED_TRACE(regression.what_broke);
    // They failed before workers shared their states.
    RunRegression(regression.seed, WithoutSilences(OneSchedulerFaultKinds()), /*has_states=*/false);
    RunRegression(regression.seed, WithoutSilences(AllFaultKinds()), /*has_states=*/false);
  }
}

TEST(FaultRegressionTest, SeedsThatFailedOnceWithStatesPass) {
  for (const RegressionSeed& regression : kStateRegressionSeeds) {
    SCOPED_TRACE(regression.what_broke);
    RunRegression(regression.seed, WithoutSilences(OneSchedulerFaultKinds()), /*has_states=*/true);
    RunRegression(regression.seed, WithoutSilences(AllFaultKinds()), /*has_states=*/true);
  }
}

TEST(FaultRegressionTest, SeedsThatFailedOnceWithOptimizersPass) {
  for (const RegressionSeed& regression : kOptimizerRegressionSeeds) {
    SCOPED_TRACE(regression.what_broke);
    // They failed before jobs had quorums.
    RunSeed(regression.seed, WithoutSilences(OneSchedulerFaultKinds()), /*may_have_quorum=*/false);
    RunSeed(regression.seed, WithoutSilences(AllFaultKinds()), /*may_have_quorum=*/false);
  }
}

TEST(FaultRegressionTest, SeedsThatFailedOnceWithSilencesPass) {
  for (const RegressionSeed& regression : kSilenceRegressionSeeds) {
    SCOPED_TRACE(regression.what_broke);
    RunSeed(regression.seed, AllFaultKinds(), /*may_have_quorum=*/false);
  }
}

TEST(FaultRegressionTest, SeedsThatFailedOnceWithFaultsOfTheSchedulerPass) {
  for (const RegressionSeed& regression : kSchedulerRegressionSeeds) {
    SCOPED_TRACE(regression.what_broke);
    RunRegression(regression.seed, SchedulerFaultKinds(), /*has_states=*/true);
  }
}

TEST(FaultCoverageTest, TheSameSeedRunsTheSameAndAllKindsHappen) {
  std::map<FaultKind, int64_t> happened;
  int64_t required = 0;
  int64_t replicas = 0;
  int64_t fetches = 0;
  int64_t given = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const FaultOutcome first = RunSeed(seed);
    if (seed < 5) {
      EXPECT_EQ(first.trace_hash, RunSeed(seed).trace_hash) << "seed " << seed;
    }
    for (const auto& [kind, times] : first.happened) happened[kind] += times;
    required += first.required;
    replicas += first.replicas;
    fetches += first.fetches;
    given += first.given;
  }
  for (const FaultKind kind : AllFaultKinds()) EXPECT_GT(happened[kind], 0) << NameOf(kind);
  EXPECT_GT(required, 10000);
  EXPECT_GT(replicas, 500);
  EXPECT_GT(fetches, 5);
  EXPECT_GT(given, 5);
}

}  // namespace
}  // namespace banyan
