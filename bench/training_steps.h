// Training of which only the time counts: steps that sleep, and synchronise as real ones do. With it a benchmark
// measures utilisation, by the barrier of bench/round_barrier.h.
#ifndef BANYAN_BENCH_TRAINING_STEPS_H_
#define BANYAN_BENCH_TRAINING_STEPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/all_reduce_rounds.h"
#include "bench/round_barrier.h"
#include "runtime/session/session.h"

namespace banyan {

struct TrainingSteps {
  std::string method;  // "attach", "diloco" or "streaming", of four fragments
  int64_t steps_per_sync = 1;
  double step_seconds = 0;
  int64_t syncs = 1;  // of the model, that count
};

// Reads METHOD STEPS SECONDS SYNCS, as `banyan bench training` hands them on; INVALID_ARGUMENT for anything else.
absl::StatusOr<TrainingSteps> ParseTrainingSteps(const std::vector<std::string>& words);

// Trains until the barrier closes. The barrier's first round has steps that take no time. Those after it have one
// synchronisation and its steps more than is timed, as fragments overlap with what comes before.
absl::Status RunTrainingSteps(RoundBarrier& barrier, const AllReduceMember& member, Session& session, int64_t elements,
                              const TrainingSteps& steps);

}  // namespace banyan

#endif  // BANYAN_BENCH_TRAINING_STEPS_H_
