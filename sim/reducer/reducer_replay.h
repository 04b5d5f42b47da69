// Replays the rounds of a job through the real scheduler and nodes in simulated time, with float32 or with counts of
// votes in their trees. Thread-compatible; one call, one simulation.
#ifndef BANYAN_SIM_REDUCER_REDUCER_REPLAY_H_
#define BANYAN_SIM_REDUCER_REDUCER_REPLAY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sim/reducer/reducer_job.h"

namespace banyan {

// Float32 always; counts wherever the guard predicts shorter rounds; counts always. All three are jobs with a profile:
// there a node adds up its workers' gradients chunk by chunk, and so has float32 sooner than without.
enum class ReducerRoute : uint8_t { kFloats, kGuarded, kForced };

struct ReducerTimes {
  absl::Duration round;     // the median: from the push of all buckets to the last worker's last result
  double low_bit_part = 0;  // of the elements
  int64_t sent_bytes = 0;   // of chunks in a round, on all links
  int64_t results = 0;      // compared with a sum, or a count of all votes, that is made in one place
};

// All rounds push all buckets at once, and workers wait for each other before each; the last rounds are measured.
// INTERNAL with a report when a result was wrong or another rule was broken; the job's own error when a round failed.
absl::StatusOr<ReducerTimes> ReplayReducer(const ReducerJob& job, ReducerRoute route);

}  // namespace banyan

#endif  // BANYAN_SIM_REDUCER_REDUCER_REPLAY_H_
