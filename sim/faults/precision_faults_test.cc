// Random jobs in which nodes, workers and schedulers die and come back while rounds go low-bit and are vetoed: no
// checker may find a violation. BANYAN_SIM_SEEDS says ten times how many seeds, at least 10; BANYAN_SIM_SEED runs only
// that one and prints its trace, with means of votes where BANYAN_SIM_MEAN_VOTES is set.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "sim/faults/fault_scenario.h"

namespace banyan {
namespace {

// Reads a number from the environment, which only tests do.
uint64_t NumberOf(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

FaultOutcome RunSeed(uint64_t seed, const Trace::Sink& sink, bool has_mean_votes = false) {
  FaultScenario scenario = MakeFaultScenario(seed, AllFaultKinds(), /*may_have_optimizer=*/false);
  AddPrecision(seed, &scenario);
  if (has_mean_votes) AddMeanVotes(seed, &scenario);
  return RunFaultScenario(scenario, sink);
}

TEST(PrecisionFaultsTest, NoRuleBreaks) {
  if (std::getenv("BANYAN_SIM_SEED") != nullptr) GTEST_SKIP();
  // A tenth of those of other tests: each of these runs for long.
  const uint64_t seeds = std::max<uint64_t>(10, NumberOf("BANYAN_SIM_SEEDS", 100) / 10);
  int64_t low_bit = 0;
  int64_t fallback = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const FaultOutcome outcome = RunSeed(seed, {});
    EXPECT_TRUE(outcome.violations.empty()) << "seed " << seed << "\n" << outcome.violations;
    low_bit += outcome.low_bit_rounds;
    fallback += outcome.fallback_rounds;
  }
  EXPECT_GT(low_bit, static_cast<int64_t>(5 * seeds));
  EXPECT_GT(fallback, static_cast<int64_t>(seeds));
  RecordProperty("rounds", std::to_string(low_bit) + " low-bit, " + std::to_string(fallback) + " fallback");
}

// The checker took the chunk of a node that had been left behind, and so begins a round on its old route, for another
// route of the others' round.
TEST(PrecisionFaultsTest, WhoWasLeftBehindBeginsARoundOnItsOldRoute) {
  const FaultOutcome outcome = RunSeed(710, {});
  EXPECT_TRUE(outcome.violations.empty()) << outcome.violations;
}

// The checker took the chunk of a node that fell out before any other had begun the round for the round's route.
TEST(PrecisionFaultsTest, WhatWhoFellOutHasBegunAloneBindsNobody) {
  for (const uint64_t seed : {1751, 2590}) {
    const FaultOutcome outcome = RunSeed(seed, {});
    EXPECT_TRUE(outcome.violations.empty()) << "seed " << seed << "\n" << outcome.violations;
  }
}

TEST(PrecisionFaultsTest, MeansOfVotesBringBackAllThatWasPushed) {
  if (std::getenv("BANYAN_SIM_SEED") != nullptr) GTEST_SKIP();
  const uint64_t seeds = std::max<uint64_t>(10, NumberOf("BANYAN_SIM_SEEDS", 100) / 10);
  int64_t low_bit = 0;
  int64_t flushes = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const FaultOutcome outcome = RunSeed(seed, {}, /*has_mean_votes=*/true);
    EXPECT_TRUE(outcome.violations.empty()) << "seed " << seed << "\n" << outcome.violations;
    low_bit += outcome.low_bit_rounds;
    flushes += outcome.flushes;
  }
  EXPECT_GT(low_bit, static_cast<int64_t>(5 * seeds));
  EXPECT_GT(flushes, static_cast<int64_t>(5 * seeds));
}

TEST(PrecisionFaultsTest, OneSeed) {
  if (std::getenv("BANYAN_SIM_SEED") == nullptr) GTEST_SKIP();
  const auto print = [](const std::string& line) { std::cerr << line << "\n"; };
  const FaultOutcome outcome =
      RunSeed(NumberOf("BANYAN_SIM_SEED", 0), print, std::getenv("BANYAN_SIM_MEAN_VOTES") != nullptr);
  EXPECT_TRUE(outcome.violations.empty()) << outcome.violations;
}

}  // namespace
}  // namespace banyan
