#include "bench/planner_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/units.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

constexpr size_t kFewNodes = 20;
constexpr double kLeastRatioOfFew = 0.97;
constexpr double kLeastRatioOfMany = 0.90;
constexpr double kRounding = 1e-6;

constexpr double PlannedRates::*kRates[] = {
    &PlannedRates::star_bps,      &PlannedRates::mst_bps,    &PlannedRates::one_fapt_bps, &PlannedRates::fapt_bps,
    &PlannedRates::auxiliary_bps, &PlannedRates::packed_bps, &PlannedRates::bound_bps};
constexpr const char* kNames[] = {"star", "mst", "one_fapt", "fapt", "fapt_auxiliary", "packed", "bound"};

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
    for (const auto rate : kRates) row.mean.*rate += (*rates).*rate / static_cast<double>(family.draws);
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

std::string PlannerTableText(const std::vector<PlannerTableRow>& rows) {
  std::string text =
      "| overlay | nodes | draws | star | mst | FAPT, one root | FAPT, all roots | with auxiliary paths | packed |"
      " bound | packed / bound | least |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const PlannerTableRow& row : rows) {
    absl::StrAppend(&text, "| ", row.overlay, " | ", row.nodes, " | ", row.draws, " |");
    for (const auto rate : kRates) absl::StrAppendFormat(&text, " %.1f |", row.mean.*rate / kBitsPerMegabit);
    absl::StrAppendFormat(&text, " %.3f | %.3f |\n", row.mean.packed_bps / row.mean.bound_bps, row.least_ratio);
  }
  return text;
}

void WritePlannerTable(const std::vector<PlannerTableRow>& rows, JsonWriter& json) {
  json.BeginArray();
  for (const PlannerTableRow& row : rows) {
    json.BeginObject().Name("overlay").String(row.overlay);
    json.Name("nodes").Integer(row.nodes).Name("draws").Integer(row.draws);
    for (size_t i = 0; i < std::size(kRates); ++i) {
      json.Name(absl::StrCat(kNames[i], "_mbps")).Number(row.mean.*kRates[i] / kBitsPerMegabit);
    }
    json.Name("bound_ratio").Number(row.mean.packed_bps / row.mean.bound_bps);
    json.Name("least_bound_ratio").Number(row.least_ratio).EndObject();
  }
  json.EndArray();
}

}  // namespace banyan
