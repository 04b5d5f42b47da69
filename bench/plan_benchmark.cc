#include "bench/plan_benchmark.h"

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// Enough for hundreds of small plans; a large one runs once or twice.
constexpr double kSecondsPerCase = 0.1;

struct PlanCase {
  std::string name;
  NetworkView view;
  PlannerConfig config;
  double goal_seconds = 0;
};

std::vector<PlanCase> PlanCases() {
  PlannerConfig fapt;
  fapt.planner = "fapt";
  PlannerConfig auxiliary = fapt;
  auxiliary.auxiliary = true;
  PlannerConfig balanced = auxiliary;
  balanced.shares = ShareRule::kBalanced;
  std::vector<PlanCase> cases;
  cases.push_back({"plan/9_nodes", Internet2Network(), fapt, 1e-3});
  cases.push_back({"plan/100_nodes", RandomNetwork(100, 4, 1), fapt, 50e-3});
  cases.push_back({"plan/100_nodes_full_mesh", CompleteNetwork(100, 100), fapt, 50e-3});
  cases.push_back({"plan/1000_nodes", RandomNetwork(1000, 4, 1), fapt, 5});
  cases.push_back({"plan/9_nodes_auxiliary", Internet2Network(), auxiliary, 5e-3});
  cases.push_back({"plan/9_nodes_auxiliary_balanced", Internet2Network(), balanced, 5e-3});
  cases.push_back({"plan/100_nodes_400_links_auxiliary", RandomNetwork(100, 8, 1), auxiliary, 500e-3});
  cases.push_back({"plan/100_nodes_400_links_auxiliary_balanced", RandomNetwork(100, 8, 1), balanced, 500e-3});
  PlannerConfig packed;
  packed.planner = "packed";
  cases.push_back({"plan/9_nodes_packed", Internet2Network(), packed, 50e-3});
  cases.push_back({"plan/9_nodes_full_mesh_packed", RandomNetwork(9, 8, 1), packed, 50e-3});
  cases.push_back({"plan/20_nodes_packed", GeometricNetwork(20, 6, 1), packed, 500e-3});
  cases.push_back({"plan/100_nodes_400_links_packed", RandomNetwork(100, 8, 1), packed, 1});
  cases.push_back({"plan/1000_nodes_packed", RandomNetwork(1000, 4, 1), packed, 5});
  return cases;
}

void PlanRepeatedly(benchmark::State& state, const PlanCase& plan_case) {
  for (auto iteration : state) {
    absl::StatusOr<Policy> policy = MakePolicy(plan_case.view, plan_case.config);
    if (!policy.ok()) state.SkipWithError(policy.status().ToString().c_str());
    benchmark::DoNotOptimize(policy);
  }
}

// Tells whether `run` was given up. Google Benchmark 1.8 names that otherwise than 1.7.
template <typename Run>
bool IsFailed(const Run& run) {
  if constexpr (requires { run.skipped; }) {
    return run.skipped != 0;
  } else {
    return run.error_occurred;
  }
}

// Passes every run on to Google Benchmark's own report and compares it with its goal.
template <typename Reporter>
class GoalReporter : public Reporter {
 public:
  template <typename... Options>
  explicit GoalReporter(const std::vector<PlanCase>* cases, Options... options) : Reporter(options...), cases_(cases) {}

  bool all_met() const { return all_met_; }

  void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run>& runs) override {
    std::vector<benchmark::BenchmarkReporter::Run> shown = runs;
    for (benchmark::BenchmarkReporter::Run& run : shown) {
      run.run_name.min_time.clear();  // the same for all
      for (const PlanCase& plan_case : *cases_) {
        if (run.run_name.function_name != plan_case.name) continue;
        const double seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
        all_met_ = all_met_ && !IsFailed(run) && seconds <= plan_case.goal_seconds;
      }
    }
    Reporter::ReportRuns(shown);
  }

 private:
  const std::vector<PlanCase>* cases_;
  bool all_met_ = true;
};

template <typename Reporter, typename... Options>
bool RunAll(const std::vector<PlanCase>& cases, std::ostream& out, Options... options) {
  for (const PlanCase& plan_case : cases) {
    benchmark::RegisterBenchmark(plan_case.name.c_str(),
                                 [&plan_case](benchmark::State& state) { PlanRepeatedly(state, plan_case); })
        ->Unit(benchmark::kMillisecond)
        ->MinTime(kSecondsPerCase);
  }
  GoalReporter<Reporter> reporter(&cases, options...);
  reporter.SetOutputStream(&out);
  const size_t run = benchmark::RunSpecifiedBenchmarks(&reporter, "plan/.*");
  benchmark::ClearRegisteredBenchmarks();
  return reporter.all_met() && run == cases.size();
}

}  // namespace

int RunPlanBenchmark(std::ostream& out, bool json) {
  const std::vector<PlanCase> cases = PlanCases();
  // Without colours: the output may be a file.
  const bool all_met = json ? RunAll<benchmark::JSONReporter>(cases, out)
                            : RunAll<benchmark::ConsoleReporter>(cases, out, benchmark::ConsoleReporter::OO_Tabular);
  return all_met ? 0 : 1;
}

}  // namespace banyan
