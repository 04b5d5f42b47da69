// `banyan bench reducer --replay`: low-bit reducers in simulated time, as the paper of NEURON-Fabric (Wang, Huang and
// Lung, 2026) replays and sweeps its own (Tables 8 and 9, Figure 4).
#ifndef BANYAN_BENCH_REDUCER_REPLAY_H_
#define BANYAN_BENCH_REDUCER_REPLAY_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/result_table.h"

namespace banyan {

// Table 8; Figure 4 A, B and C.
enum class ReducerStudy : uint8_t { kModels, kCapacity, kContention, kCorner };

struct ReducerReplayOptions {
  std::vector<ReducerStudy> studies = {ReducerStudy::kModels, ReducerStudy::kCapacity, ReducerStudy::kContention,
                                       ReducerStudy::kCorner};
  bool json = false;
  bool quick = false;  // one small model, few values
  // Told the part of the work that is done, 0 to 1, again and again.
  std::function<void(double part)> progress;
};

struct ReducerReplayReport {
  std::vector<ResultTable> tables;  // of each study, and of what they say together (Table 9)
  double worst_guarded = 0;         // part of float32's time
};

// The same on every machine. A wrong result in a simulation is its error.
absl::StatusOr<ReducerReplayReport> ReplayReducers(const ReducerReplayOptions& options);

// Prints the report's tables to `out`. Returns the exit code, 1 where a guarded round takes over 2 % longer than with
// float32.
int PrintReducerReplay(const ReducerReplayReport& report, bool json, std::ostream& out);

}  // namespace banyan

#endif  // BANYAN_BENCH_REDUCER_REPLAY_H_
