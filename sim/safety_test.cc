// Thousands of random jobs under random faults: no checker may find a violation, and the same seed must give the same
// trace. BANYAN_SIM_SEEDS says how many seeds (default 200); BANYAN_SIM_SEED runs only that one and prints its trace.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "sim/regression_seeds.h"
#include "sim/runs/scenario.h"

namespace banyan {
namespace {

struct Seeds {
  uint64_t count = 200;
  std::optional<uint64_t> only;
};

Seeds& TheSeeds() {
  static Seeds seeds;
  return seeds;
}

// Shards of the test runner take whole blocks.
constexpr int kBlocks = 16;

void RunTwice(uint64_t seed) {
  const Scenario scenario = MakeScenario(seed);
  const ScenarioOutcome first = RunScenario(scenario, {});
  EXPECT_TRUE(first.violations.empty()) << "seed " << seed << "\n" << first.violations;
  const ScenarioOutcome second = RunScenario(scenario, {});
  EXPECT_EQ(first.trace_hash, second.trace_hash) << "seed " << seed << " ran differently the second time";
}

class SafetyTest : public testing::TestWithParam<int> {};

TEST_P(SafetyTest, NoRuleBreaks) {
  if (TheSeeds().only.has_value()) GTEST_SKIP();
  for (uint64_t seed = GetParam(); seed < TheSeeds().count; seed += kBlocks) RunTwice(seed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SafetyTest, testing::Range(0, kBlocks));

TEST(SafetyRegressionTest, SeedsThatFailedOncePass) {
  if (TheSeeds().only.has_value()) GTEST_SKIP();
  for (const RegressionSeed& regression : kRegressionSeeds) {
    SCOPED_TRACE(regression.what_broke);
    RunTwice(regression.seed);
  }
}

// Jobs whose policies never change would pass without a proof.
TEST(SafetyCoverageTest, PoliciesChangeAuxiliaryPathsAreTakenAndOperatorsAreHeard) {
  if (TheSeeds().only.has_value()) GTEST_SKIP();
  size_t policies = 0;
  size_t reconfigured = 0;
  int64_t auxiliary_paths = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const ScenarioOutcome outcome = RunScenario(MakeScenario(seed), {});
    policies += outcome.policies;
    reconfigured += outcome.reconfigured;
    auxiliary_paths += outcome.auxiliary_paths;
  }
  EXPECT_GT(policies, 150u) << reconfigured << " orders, " << auxiliary_paths << " auxiliary paths";
  EXPECT_GT(reconfigured, 30u);
  EXPECT_GT(auxiliary_paths, 200);
}

TEST(SafetyTraceTest, OneSeed) {
  if (!TheSeeds().only.has_value()) GTEST_SKIP();
  const auto print = [](const std::string& line) { std::cerr << line << "\n"; };
  const ScenarioOutcome outcome = RunScenario(MakeScenario(*TheSeeds().only), print);
  EXPECT_TRUE(outcome.violations.empty()) << outcome.violations;
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  banyan::Seeds& seeds = banyan::TheSeeds();
  if (const char* count = std::getenv("BANYAN_SIM_SEEDS")) {
    if (!absl::SimpleAtoi(count, &seeds.count)) return 2;
  }
  uint64_t only = 0;
  if (const char* seed = std::getenv("BANYAN_SIM_SEED")) {
    if (!absl::SimpleAtoi(seed, &only)) return 2;
    seeds.only = only;
  }
  return RUN_ALL_TESTS();
}
