// The second part of `banyan bench plan`: the all-reduce rates that planners promise on many overlays, beside the bound
// that no scheme can beat. Pure functions.
#ifndef BANYAN_BENCH_PLANNER_TABLE_H_
#define BANYAN_BENCH_PLANNER_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/json_writer.h"
#include "topology/network_view.h"
#include "topology/samples/overlay_families.h"

namespace banyan {

// On one overlay, in bits of the model per second.
struct PlannedRates {
  double star_bps = 0;
  double mst_bps = 0;
  double one_fapt_bps = 0;   // of the best root
  double fapt_bps = 0;       // of all roots
  double auxiliary_bps = 0;  // the same with ideal use of auxiliary paths
  double packed_bps = 0;     // without auxiliary paths
  double bound_bps = 0;      // the least that is proven (RateBoundBps, and the prices of the packed plan)
};

// The results of the planners on one family of overlays.
struct PlannerTableRow {
  std::string overlay;
  size_t nodes = 0;
  size_t draws = 0;
  PlannedRates mean;
  double least_ratio = 0;  // of the packed rate to the bound, over the draws
  double least_gain = 0;   // of the packed rate to that of all FAPTs, over the draws
};

// The planner's error where one fails.
absl::StatusOr<PlannedRates> PlanRates(const NetworkView& view);
absl::StatusOr<PlannerTableRow> MakeRow(const OverlayFamily& family);

// Returns a sentence for each goal that `rows` miss. Packed plans are to reach 0.97 of the bound up to 20 nodes and
// 0.90 beyond, and are to be nowhere slower than FAPT's.
std::vector<std::string> Misses(const std::vector<PlannerTableRow>& rows);

// Markdown, in Mbit/s.
std::string PlannerTableText(const std::vector<PlannerTableRow>& rows);
// An array of rows: `overlay`, `nodes`, `draws`, `star_mbps`, `mst_mbps`, `one_fapt_mbps`, `fapt_mbps`,
// `fapt_auxiliary_mbps`, `packed_mbps`, `bound_mbps`, `bound_ratio`, `least_bound_ratio`.
void WritePlannerTable(const std::vector<PlannerTableRow>& rows, JsonWriter& json);

}  // namespace banyan

#endif  // BANYAN_BENCH_PLANNER_TABLE_H_
