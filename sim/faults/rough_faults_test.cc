// Rough jobs: no checker may find a violation. BANYAN_SIM_SEEDS says ten times
// how many seeds, at least 40; BANYAN_SIM_SEED runs only that one and prints
// its trace.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "sim/faults/fault_scenario.h"
#include "sim/faults/fault_seeds.h"

namespace banyan {
namespace {

// Reads a number from the environment, which only tests do.
uint64_t NumberOf(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

TEST(RoughFaultsTest, NoRuleBreaks) {
  if (std::getenv("BANYAN_SIM_SEED") != nullptr) GTEST_SKIP();
  // A tenth of those of other tests: each of these runs for long.
  const uint64_t seeds = std::max<uint64_t>(40, NumberOf("BANYAN_SIM_SEEDS", 400) / 10);
  std::map<FaultKind, int64_t> happened;
  int64_t means = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const FaultOutcome outcome = RunRoughSeed(seed, {});
    EXPECT_TRUE(outcome.violations.empty()) << "seed " << seed << "\n" << outcome.violations;
    for (const auto& [kind, times] : outcome.happened) happened[kind] += times;
    means += outcome.means;
  }
  for (const FaultKind kind : RoughFaultKinds()) EXPECT_GT(happened[kind], 0) << NameOf(kind);
  EXPECT_GT(means, 100);
  EXPECT_EQ(RunRoughSeed(1, {}).trace_hash, RunRoughSeed(1, {}).trace_hash);
}

TEST(RoughFaultsTest, SeedsThatFailedOncePass) {
  if (std::getenv("BANYAN_SIM_SEED") != nullptr) GTEST_SKIP();
  for (const RegressionSeed& regression : kRoughRegressionSeeds) {
    SCOPED_TRACE(regression.what_broke);
    const FaultOutcome outcome = RunRoughSeed(regression.seed, {});
    EXPECT_TRUE(outcome.violations.empty()) << "seed " << regression.seed << "\n" << outcome.violations;
  }
}

TEST(RoughFaultsTest, OneSeed) {
  if (std::getenv("BANYAN_SIM_SEED") == nullptr) GTEST_SKIP();
  const auto print = [](const std::string& line) { std::cerr << line << "\n"; };
  const FaultOutcome outcome = RunRoughSeed(NumberOf("BANYAN_SIM_SEED", 0), print);
  EXPECT_TRUE(outcome.violations.empty()) << outcome.violations;
}

}  // namespace
}  // namespace banyan
