// `banyan bench plan`: how long planning takes, for networks of 9, 100 and 1,000 nodes; and the all-reduce rates that
// planners promise on many overlays, beside the bound that no scheme can beat.
#ifndef BANYAN_BENCH_PLAN_BENCHMARK_H_
#define BANYAN_BENCH_PLAN_BENCHMARK_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/result_table.h"
#include "topology/network_view.h"
#include "topology/samples/sample_networks.h"

namespace banyan {

// Times these plans:
//  - multi-root FAPT on the demo's overlay, random networks of 100 and 1,000 nodes with 4 links each, and a full mesh
//    of 100;
//  - FAPT with auxiliary paths and either rule for shares, on the demo's overlay and on 100 nodes with 400 links (both
//    directions of each);
//  - packed trees for 9 to 1,000 nodes.
// Returns a row for each, with its goal: 1 ms for 9 nodes, 50 ms for 100, 5 s for 1,000; with auxiliary paths 5 ms for
// 9, 500 ms for 100; packed 50 ms for 9, 500 ms for 20, 1 s for 100, 5 s for 1,000. Fails when a plan does. Keys:
// `plan`, `milliseconds`, `goal_milliseconds`, `is_met`.
absl::StatusOr<ResultTable> TimePlans();

// --- the rates that planners promise; pure functions ---

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

// In Mbit/s. Keys: `overlay`, `nodes`, `draws`, `star_mbps`, `mst_mbps`, `one_fapt_mbps`, `fapt_mbps`,
// `fapt_auxiliary_mbps`, `packed_mbps`, `bound_mbps`, `bound_ratio`, `least_bound_ratio`.
ResultTable PlannerTable(const std::vector<PlannerTableRow>& rows);

}  // namespace banyan

#endif  // BANYAN_BENCH_PLAN_BENCHMARK_H_
