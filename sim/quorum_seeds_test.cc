// Random jobs under random faults, as in the safety test, in which rounds close without late workers: no checker may
// find a violation, and the same seed must give the same trace. BANYAN_SIM_SEEDS says ten times how many seeds, at
// least 40; BANYAN_SIM_SEED runs only that one and prints its trace.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "absl/strings/numbers.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "sim/runs/scenario.h"

namespace banyan {
namespace {

// Reads a number from the environment, which only tests do.
uint64_t NumberOf(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

// The safety test's job of the same seed, with a quorum, nodes that compute slowly and a flush now and then.
Scenario MakeQuorumScenario(uint64_t seed) {
  Scenario scenario = MakeScenario(seed);
  Random random(seed);
  ClusterOptions& cluster = scenario.cluster;
  AggregationConfig& aggregation = cluster.overlay.aggregation;
  aggregation.quorum = 0.3 + 0.7 * random.Unit();
  aggregation.grace = absl::Milliseconds(random.Chance(0.3) ? 0 : random.Between(1, 300));
  if (cluster.told.has_value()) cluster.told->aggregation = aggregation;
  TrainingPlan& plan = cluster.plan;
  plan.rounds = std::max<uint64_t>(plan.rounds, 8);
  if (plan.flush_every == 0) plan.flush_every = static_cast<uint64_t>(random.Between(3, 8));
  // Who is in a mean, and by what it is divided, says no result of several rounds: but all gradients' mean is theirs.
  plan.equal_gradients = aggregation.op == AggregationOp::kMean;
  plan.compute_time += absl::Milliseconds(random.Between(10, 100));
  for (uint32_t node = 1; node <= cluster.overlay.nodes.size(); ++node) {
    if (random.Chance(0.3)) plan.slowness[NodeId(node)] = 1 + 9 * random.Unit();
  }
  return scenario;
}

TEST(QuorumSeedsTest, NoRuleBreaks) {
  // A tenth of those of other tests: each of these runs for long.
  const uint64_t seeds = std::max<uint64_t>(40, NumberOf("BANYAN_SIM_SEEDS", 400) / 10);
  if (std::getenv("BANYAN_SIM_SEED") != nullptr) GTEST_SKIP();
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Scenario scenario = MakeQuorumScenario(seed);
    const ScenarioOutcome first = RunScenario(scenario, {});
    EXPECT_TRUE(first.violations.empty()) << "seed " << seed << "\n" << first.violations;
    if (seed % 10 != 0) continue;
    EXPECT_EQ(first.trace_hash, RunScenario(scenario, {}).trace_hash) << "seed " << seed << " ran differently";
  }
}

TEST(QuorumSeedsTest, OneSeed) {
  if (std::getenv("BANYAN_SIM_SEED") == nullptr) GTEST_SKIP();
  const auto print = [](const std::string& line) { std::cerr << line << "\n"; };
  const ScenarioOutcome outcome = RunScenario(MakeQuorumScenario(NumberOf("BANYAN_SIM_SEED", 0)), print);
  EXPECT_TRUE(outcome.violations.empty()) << outcome.violations;
}

}  // namespace
}  // namespace banyan
