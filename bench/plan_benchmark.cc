#include "bench/plan_benchmark.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/timing.h"
#include "core/units.h"
#include "topology/network_view.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// Enough for hundreds of small plans; a large one is made twice.
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
  cases.push_back({"9_nodes", Internet2Network(), fapt, 1e-3});
  cases.push_back({"100_nodes", RandomNetwork(100, 4, 1), fapt, 50e-3});
  cases.push_back({"100_nodes_full_mesh", CompleteNetwork(100, 100), fapt, 50e-3});
  cases.push_back({"1000_nodes", RandomNetwork(1000, 4, 1), fapt, 5});
  cases.push_back({"9_nodes_auxiliary", Internet2Network(), auxiliary, 5e-3});
  cases.push_back({"9_nodes_auxiliary_balanced", Internet2Network(), balanced, 5e-3});
  cases.push_back({"100_nodes_400_links_auxiliary", RandomNetwork(100, 8, 1), auxiliary, 500e-3});
  cases.push_back({"100_nodes_400_links_auxiliary_balanced", RandomNetwork(100, 8, 1), balanced, 500e-3});
  PlannerConfig packed;
  packed.planner = "packed";
  cases.push_back({"9_nodes_packed", Internet2Network(), packed, 50e-3});
  cases.push_back({"9_nodes_full_mesh_packed", RandomNetwork(9, 8, 1), packed, 50e-3});
  cases.push_back({"20_nodes_packed", GeometricNetwork(20, 6, 1), packed, 500e-3});
  cases.push_back({"100_nodes_400_links_packed", RandomNetwork(100, 8, 1), packed, 1});
  cases.push_back({"1000_nodes_packed", RandomNetwork(1000, 4, 1), packed, 5});
  return cases;
}

absl::StatusOr<double> SecondsPerPlan(const PlanCase& plan_case) {
  absl::Status status;
  const double seconds =
      SecondsPerCall(kSecondsPerCase, [&] { status.Update(MakePolicy(plan_case.view, plan_case.config).status()); });
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(plan_case.name, ": ", status.message()));
  return seconds;
}

}  // namespace

absl::StatusOr<ResultTable> TimePlans() {
  constexpr double kMilliseconds = 1e3;
  ResultTable table;
  table.columns = {{"plan"}, {"ms", "milliseconds"}, {"goal", "goal_milliseconds"}, {"is met", "is_met"}};
  for (const PlanCase& plan_case : PlanCases()) {
    const absl::StatusOr<double> seconds = SecondsPerPlan(plan_case);
    if (!seconds.ok()) return seconds.status();
    const bool is_met = *seconds <= plan_case.goal_seconds;
    table.rows.push_back({ResultTable::Cell::Text(plan_case.name),
                          ResultTable::Cell::Number(*seconds * kMilliseconds, 3),
                          ResultTable::Cell::Number(plan_case.goal_seconds * kMilliseconds, 0),
                          ResultTable::Cell::Flag(is_met, is_met ? "yes" : "no")});
  }
  return table;
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
