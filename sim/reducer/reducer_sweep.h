// Where counts of votes are faster than float32, and where the guard must keep them from being slower: a job with every
// combination of some sizes and rates (NEURON-Fabric, Wang, Huang and Lung, 2026, Figure 4). Functions;
// thread-compatible.
#ifndef BANYAN_SIM_REDUCER_REDUCER_SWEEP_H_
#define BANYAN_SIM_REDUCER_REDUCER_SWEEP_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/reducer/reducer_job.h"
#include "sim/reducer/reducer_replay.h"

namespace banyan {

struct ReducerGrid {
  std::vector<int> nodes;
  std::vector<int> workers;
  std::vector<int> threads = {1};  // as nodes have unless they are told otherwise
  std::vector<double> node_bps;
  std::vector<double> vote_bytes_per_second;
  std::vector<LowBitFamily> families;

  size_t size() const;
};

struct ReducerPoint {
  ReducerJob job;
  ReducerTimes floats;
  ReducerTimes guarded;
  ReducerTimes forced;

  // Parts of float32's time.
  double guarded_part() const { return absl::FDivDuration(guarded.round, floats.round); }
  double forced_part() const { return absl::FDivDuration(forced.round, floats.round); }
};

// Replays a job in all three ways.
absl::StatusOr<ReducerPoint> ReplayPoint(const ReducerJob& job);

// Replays `job` with each combination of the grid, in its order, families last. `progress` is told how many are done.
absl::StatusOr<std::vector<ReducerPoint>> SweepReducer(const ReducerJob& job, const ReducerGrid& grid,
                                                       const std::function<void(size_t done)>& progress);

}  // namespace banyan

#endif  // BANYAN_SIM_REDUCER_REDUCER_SWEEP_H_
