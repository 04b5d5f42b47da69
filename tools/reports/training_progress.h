// The messages of a training process to its observer, one JSON object on a line each:
//
//   {"rank":3,"round":12,"loss":0.5318,"pushed_ns":81203120311,"pulled_ns":81227412777}
//   {"rank":3,"rounds":400,"parameters":117066,"hash":"91c3a0c9d3a0f2b4","accuracy":0.8861}
//
// Values; the functions are pure.
#ifndef BANYAN_TOOLS_REPORTS_TRAINING_PROGRESS_H_
#define BANYAN_TOOLS_REPORTS_TRAINING_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/time.h"

namespace banyan {

// One worker has finished one round. The times are of the machine's steady clock, equal in all its processes.
struct RoundProgress {
  int rank = 0;
  int64_t round = 0;         // from 1
  double loss = 0;           // mean over the worker's batch, before the round's step
  Timestamp pushed_at = {};  // its last gradient was handed over
  Timestamp pulled_at = {};  // its last result had come
};

// One worker has finished its training.
struct TrainingResult {
  int rank = 0;
  int64_t rounds = 0;
  int64_t parameters = 0;
  std::string hash = {};                // of the final parameters' bits
  std::optional<double> accuracy = {};  // on the test set, of the worker that measures it
};

using TrainingProgress = std::variant<RoundProgress, TrainingResult>;

// Without the end of the line.
std::string FormatProgress(const TrainingProgress& progress);
// INVALID_ARGUMENT when the line is not one that FormatProgress makes.
absl::StatusOr<TrainingProgress> ParseProgress(absl::string_view line);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_TRAINING_PROGRESS_H_
