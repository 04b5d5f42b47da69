// Random jobs under random faults: no checker may find a violation, no process may hang, and the same seed must give
// the same trace. Three variables of the environment say which seeds are run:
//   BANYAN_SIM_SEEDS  how many of the sweeps that run all (200), half of them from 0 on
//   BANYAN_SIM_FROM   where the other half begins (behind the first half)
//   BANYAN_SIM_SEED   runs only that seed of the sweep that --test_filter names, and prints its trace
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "sim/faults/fault_scenario.h"
#include "sim/regression_seeds.h"
#include "sim/runs/scenario.h"

namespace banyan {
namespace {

// Reads a number from the environment, which only tests do.
std::optional<uint64_t> NumberOf(const char* variable) {
  const char* const text = std::getenv(variable);
  uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? std::optional(number) : std::nullopt;
}

FaultOutcome RunWithoutFaults(const Scenario& scenario, const Trace::Sink& sink) {
  const ScenarioOutcome ran = RunScenario(scenario, sink);
  FaultOutcome outcome;
  outcome.trace_hash = ran.trace_hash;
  outcome.violations = ran.violations;
  return outcome;
}

FaultOutcome RunSafety(uint64_t seed, const Trace::Sink& sink) { return RunWithoutFaults(MakeScenario(seed), sink); }

// Runs the safety sweep's job of the same seed with a quorum, nodes that compute slowly and a flush now and then.
FaultOutcome RunQuorum(uint64_t seed, const Trace::Sink& sink) {
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
  // A result of several rounds does not say which gradients are in it, but all gradients' mean is that of each.
  plan.equal_gradients = aggregation.op == AggregationOp::kMean;
  plan.compute_time += absl::Milliseconds(random.Between(10, 100));
  for (uint32_t node = 1; node <= cluster.overlay.nodes.size(); ++node) {
    if (random.Chance(0.3)) plan.slowness[NodeId(node)] = 1 + 9 * random.Unit();
  }
  return RunWithoutFaults(scenario, sink);
}

FaultOutcome RunFaults(uint64_t seed, const Trace::Sink& sink) { return RunFaultSeed(seed, AllFaultKinds(), sink); }

FaultOutcome RunQuorumFaults(uint64_t seed, const Trace::Sink& sink) {
  FaultScenario scenario = MakeFaultScenario(seed, AllFaultKinds(), /*may_have_optimizer=*/false);
  AddQuorum(seed, &scenario);
  return RunFaultScenario(scenario, sink);
}

// Rounds go low-bit and are vetoed while processes die and come back.
FaultOutcome RunPrecision(uint64_t seed, const Trace::Sink& sink) {
  FaultScenario scenario = MakeFaultScenario(seed, AllFaultKinds(), /*may_have_optimizer=*/false);
  AddPrecision(seed, &scenario);
  return RunFaultScenario(scenario, sink);
}

FaultOutcome RunMeanVotes(uint64_t seed, const Trace::Sink& sink) {
  FaultScenario scenario = MakeFaultScenario(seed, AllFaultKinds(), /*may_have_optimizer=*/false);
  AddPrecision(seed, &scenario);
  AddMeanVotes(seed, &scenario);
  return RunFaultScenario(scenario, sink);
}

struct Sweep {
  const char* name;
  uint64_t one_in;  // seeds: 10 where each runs for long
  FaultOutcome (*run)(uint64_t seed, const Trace::Sink& sink);
};

constexpr Sweep kSweeps[] = {
    {"Safety", 1, RunSafety},        {"Quorum", 10, RunQuorum},
    {"Faults", 1, RunFaults},        {"QuorumFaults", 10, RunQuorumFaults},
    {"Precision", 10, RunPrecision}, {"MeanVotes", 10, RunMeanVotes},
    {"Rough", 10, RunRoughSeed},
};

// Shards of the test runner take whole blocks.
constexpr int kBlocks = 10;

class SeedsTest : public testing::TestWithParam<std::tuple<Sweep, int>> {};

TEST_P(SeedsTest, NoRuleBreaks) {
  const auto& [sweep, block] = GetParam();
  if (const std::optional<uint64_t> only = NumberOf("BANYAN_SIM_SEED")) {
    if (block != 0) GTEST_SKIP() << "BANYAN_SIM_SEED runs in block 0";
    const FaultOutcome outcome = sweep.run(*only, [](const std::string& line) { std::cerr << line << "\n"; });
    EXPECT_TRUE(outcome.violations.empty()) << outcome.violations;
    return;
  }
  const uint64_t count = std::max<uint64_t>(4, NumberOf("BANYAN_SIM_SEEDS").value_or(200) / sweep.one_in);
  const uint64_t fixed = (count + 1) / 2;
  const uint64_t from = NumberOf("BANYAN_SIM_FROM").value_or(fixed);
  for (uint64_t i = block; i < count; i += kBlocks) {
    const uint64_t seed = i < fixed ? i : from + (i - fixed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "; for its trace: bazel test //sim/faults:seeds_test"
                                    << " --test_filter=*" << sweep.name << "_0 --test_env=BANYAN_SIM_SEED=" << seed);
    const FaultOutcome outcome = sweep.run(seed, {});
    EXPECT_TRUE(outcome.violations.empty()) << outcome.violations;
    if (i / kBlocks % 10 != 0) continue;
    EXPECT_EQ(sweep.run(seed, {}).trace_hash, outcome.trace_hash) << "it ran differently";
  }
}

INSTANTIATE_TEST_SUITE_P(All, SeedsTest, testing::Combine(testing::ValuesIn(kSweeps), testing::Range(0, kBlocks)),
                         [](const testing::TestParamInfo<SeedsTest::ParamType>& test) {
                           return absl::StrCat(std::get<0>(test.param).name, "_", std::get<1>(test.param));
                         });

// --- seeds that failed once ------------------------------------------------------------------------------------------

// Runs each of `seeds` by `run`, which returns what was violated.
void RunAll(const std::vector<RegressionSeed>& seeds, const std::function<std::string(uint64_t seed)>& run) {
  for (const RegressionSeed& regression : seeds) {
    EXPECT_EQ(run(regression.seed), "") << "seed " << regression.seed << ": " << regression.what_broke;
  }
}

// Connections could not fall silent when these seeds failed.
std::vector<FaultKind> WithoutSilences(std::vector<FaultKind> kinds) {
  std::erase_if(kinds, IsSilence);
  return kinds;
}

// Seeds that failed before jobs had optimizers are run without, and those before workers shared states likewise.
std::string RunOld(uint64_t seed, const std::vector<FaultKind>& kinds, bool has_states) {
  FaultScenario scenario = MakeFaultScenario(seed, kinds, /*may_have_optimizer=*/false);
  if (!has_states) scenario.cluster.plan.state_bytes = 0;
  return RunFaultScenario(scenario, {}).violations;
}

std::string RunWithoutQuorum(uint64_t seed, const std::vector<FaultKind>& kinds) {
  return RunFaultSeed(seed, kinds, {}, /*may_have_quorum=*/false).violations;
}

TEST(SeedRegressionTest, OfSafety) {
  RunAll(kRegressionSeeds, [](uint64_t seed) { return RunSafety(seed, {}).violations; });
}

TEST(SeedRegressionTest, OfFaultsBeforeWorkersSharedStates) {
  RunAll(kFaultRegressionSeeds, [](uint64_t seed) {
    return RunOld(seed, WithoutSilences(OneSchedulerFaultKinds()), /*has_states=*/false) +
           RunOld(seed, WithoutSilences(AllFaultKinds()), /*has_states=*/false);
  });
}

TEST(SeedRegressionTest, OfFaultsWithStates) {
  RunAll(kStateRegressionSeeds, [](uint64_t seed) {
    return RunOld(seed, WithoutSilences(OneSchedulerFaultKinds()), /*has_states=*/true) +
           RunOld(seed, WithoutSilences(AllFaultKinds()), /*has_states=*/true);
  });
}

TEST(SeedRegressionTest, OfFaultsWithOptimizers) {
  RunAll(kOptimizerRegressionSeeds, [](uint64_t seed) {
    return RunWithoutQuorum(seed, WithoutSilences(OneSchedulerFaultKinds())) +
           RunWithoutQuorum(seed, WithoutSilences(AllFaultKinds()));
  });
}

TEST(SeedRegressionTest, OfFaultsWithSilences) {
  RunAll(kSilenceRegressionSeeds, [](uint64_t seed) { return RunWithoutQuorum(seed, AllFaultKinds()); });
}

TEST(SeedRegressionTest, OfFaultsAsTheyAreDrawnToday) {
  RunAll({{7001121, "a fetch that was said again on a new connection, after its answer, was waited for for ever"},
          {9008739, "a job with little room at its relays, which trained all the time, was taken for one that hangs"}},
         [](uint64_t seed) { return RunFaults(seed, {}).violations; });
  RunAll({{7000029, "the checker took what a node pushed that had fallen out, and did not know it, for owed"}},
         [](uint64_t seed) { return RunQuorumFaults(seed, {}).violations; });
}

TEST(SeedRegressionTest, OfFaultsOfTheScheduler) {
  RunAll(kSchedulerRegressionSeeds,
         [](uint64_t seed) { return RunOld(seed, SchedulerFaultKinds(), /*has_states=*/true); });
}

TEST(SeedRegressionTest, OfPrecision) {
  const std::vector<RegressionSeed> seeds = {
      {710,
       "the checker took the chunk of a node that had been left behind, and so begins a round on its old route, for "
       "another route of the others' round"},
      {1751, "the checker took the chunk of a node that fell out before any other had begun the round for the route"},
      {2590, "the checker took the chunk of a node that fell out before any other had begun the round for the route"},
  };
  RunAll(seeds, [](uint64_t seed) { return RunPrecision(seed, {}).violations; });
}

TEST(SeedRegressionTest, OfRoughJobs) {
  RunAll(kRoughRegressionSeeds, [](uint64_t seed) { return RunRoughSeed(seed, {}).violations; });
}

// --- what the jobs have in them, without which they would pass for nothing -------------------------------------------

// Runs the seeds 0 to `count` - 1 by `run`, and adds up.
FaultOutcome Total(uint64_t count, FaultOutcome (*run)(uint64_t seed, const Trace::Sink& sink)) {
  FaultOutcome total;
  for (uint64_t seed = 0; seed < count; ++seed) total.Add(run(seed, {}));
  return total;
}

TEST(SeedCoverageTest, PoliciesChangeAuxiliaryPathsAreTakenAndOperatorsAreHeard) {
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

TEST(SeedCoverageTest, AllKindsOfFaultsHappen) {
  FaultOutcome total = Total(40, RunFaults);
  for (const FaultKind kind : AllFaultKinds()) EXPECT_GT(total.happened[kind], 0) << NameOf(kind);
  EXPECT_GT(total.required, 10000);
  EXPECT_GT(total.replicas, 500);
  EXPECT_GT(total.fetches, 5);
  EXPECT_GT(total.given, 5);
}

TEST(SeedCoverageTest, AllKindsOfFaultsHappenToRoughJobs) {
  FaultOutcome total = Total(40, RunRoughSeed);
  for (const FaultKind kind : RoughFaultKinds()) EXPECT_GT(total.happened[kind], 0) << NameOf(kind);
  EXPECT_GT(total.means, 100);
}

TEST(SeedCoverageTest, QuorumsFlush) { EXPECT_GT(Total(10, RunQuorumFaults).flushes, 10); }

TEST(SeedCoverageTest, RoundsAreLowBitAndFallBack) {
  const FaultOutcome votes = Total(10, RunPrecision);
  EXPECT_GT(votes.low_bit_rounds, 50);
  EXPECT_GT(votes.fallback_rounds, 10);
  const FaultOutcome means = Total(10, RunMeanVotes);
  EXPECT_GT(means.low_bit_rounds, 50);
  EXPECT_GT(means.flushes, 50);
}

}  // namespace
}  // namespace banyan
