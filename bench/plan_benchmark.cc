#include "bench/plan_benchmark.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/units.h"
#include "topology/network_view.h"
#include "topology/packing/rate_bound.h"
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

// --- the rates that planners promise ---

namespace {

constexpr size_t kFewNodes = 20;
constexpr double kLeastRatioOfFew = 0.97;
constexpr double kLeastRatioOfMany = 0.90;
constexpr double kRounding = 1e-6;

// The columns of the table, and their keys.
struct RateColumn {
  double PlannedRates::*rate_bps;
  const char* title;
  const char* key;
};
constexpr RateColumn kRates[] = {{&PlannedRates::star_bps, "star", "star_mbps"},
                                 {&PlannedRates::mst_bps, "mst", "mst_mbps"},
                                 {&PlannedRates::one_fapt_bps, "FAPT, one root", "one_fapt_mbps"},
                                 {&PlannedRates::fapt_bps, "FAPT, all roots", "fapt_mbps"},
                                 {&PlannedRates::auxiliary_bps, "with auxiliary paths", "fapt_auxiliary_mbps"},
                                 {&PlannedRates::packed_bps, "packed", "packed_mbps"},
                                 {&PlannedRates::bound_bps, "bound", "bound_mbps"}};

// Plans one view again and again, and keeps the first error.
class PlanSeries {
 public:
  explicit PlanSeries(const NetworkView* view) : view_(view) {}

  Policy Plan(const PlannerConfig& config) {
    absl::StatusOr<Policy> policy = MakePolicy(*view_, config);
    if (policy.ok()) return *std::move(policy);
    status_.Update(policy.status());
    return Policy();
  }

  const absl::Status& status() const { return status_; }

 private:
  const NetworkView* view_;
  absl::Status status_;
};

PlannerConfig For(const std::string& planner) {
  PlannerConfig config;
  config.planner = planner;
  return config;
}

}  // namespace

absl::StatusOr<PlannedRates> PlanRates(const NetworkView& view) {
  PlanSeries plans(&view);
  PlannedRates rates;
  rates.star_bps = plans.Plan(For("star")).rate_bps;
  rates.mst_bps = plans.Plan(For("mst")).rate_bps;
  PlannerConfig one = For("fapt");
  one.roots = 1;
  rates.one_fapt_bps = plans.Plan(one).rate_bps;
  PlannerConfig all = For("fapt");
  all.auxiliary = true;
  const Policy fapt = plans.Plan(all);
  rates.fapt_bps = fapt.rate_bps;
  rates.auxiliary_bps = fapt.auxiliary_rate_bps;
  const Policy packed = plans.Plan(For("packed"));
  rates.packed_bps = packed.rate_bps;
  if (!plans.status().ok()) return plans.status();
  rates.bound_bps = std::min(packed.bound_bps, RateBoundBps(view));
  return rates;
}

absl::StatusOr<PlannerTableRow> MakeRow(const OverlayFamily& family) {
  PlannerTableRow row;
  row.overlay = family.name;
  row.draws = family.draws;
  row.least_ratio = row.least_gain = std::numeric_limits<double>::infinity();
  for (uint64_t draw = 1; draw <= family.draws; ++draw) {
    const NetworkView view = family.draw(draw);
    const absl::StatusOr<PlannedRates> rates = PlanRates(view);
    if (!rates.ok()) return rates.status();
    row.nodes = view.nodes().size();
    for (const RateColumn& rate : kRates) {
      row.mean.*rate.rate_bps += (*rates).*rate.rate_bps / static_cast<double>(family.draws);
    }
    row.least_ratio = std::min(row.least_ratio, rates->packed_bps / rates->bound_bps);
    row.least_gain = std::min(row.least_gain, rates->packed_bps / rates->fapt_bps);
  }
  return row;
}

std::vector<std::string> Misses(const std::vector<PlannerTableRow>& rows) {
  std::vector<std::string> misses;
  for (const PlannerTableRow& row : rows) {
    const double goal = row.nodes <= kFewNodes ? kLeastRatioOfFew : kLeastRatioOfMany;
    if (row.least_ratio < goal) {
      misses.push_back(absl::StrFormat("%s: a packed plan reaches %.3f of the bound where %.2f is the goal",
                                       row.overlay, row.least_ratio, goal));
    }
    if (row.least_gain < 1 - kRounding) {
      misses.push_back(absl::StrFormat("%s: a packed plan has %.3f times the rate of FAPT's, and must not be slower",
                                       row.overlay, row.least_gain));
    }
  }
  return misses;
}

ResultTable PlannerTable(const std::vector<PlannerTableRow>& rows) {
  using Cell = ResultTable::Cell;
  ResultTable table;
  table.columns = {{"overlay"}, {"nodes"}, {"draws"}};
  for (const RateColumn& rate : kRates) table.columns.push_back({rate.title, rate.key});
  table.columns.push_back({"packed / bound", "bound_ratio"});
  table.columns.push_back({"least", "least_bound_ratio"});
  for (const PlannerTableRow& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {Cell::Text(row.overlay), Cell::Number(static_cast<double>(row.nodes), 0),
             Cell::Number(static_cast<double>(row.draws), 0)};
    for (const RateColumn& rate : kRates) cells.push_back(Cell::Number(row.mean.*rate.rate_bps / kBitsPerMegabit, 1));
    cells.push_back(Cell::Number(row.mean.packed_bps / row.mean.bound_bps, 3));
    cells.push_back(Cell::Number(row.least_ratio, 3));
  }
  return table;
}

}  // namespace banyan
