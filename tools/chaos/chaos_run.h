// One run of `banyan chaos`: watches a job for a while, then breaks it again and again. At the end it undoes what is
// under way, and measures what all that has cost. Blocking; use from one thread.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_RUN_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_RUN_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/stop_signals.h"
#include "tools/chaos/chaos_job.h"
#include "tools/chaos/chaos_plan.h"
#include "tools/chaos/chaos_report.h"

namespace banyan {

// Which directions of a link are cut.
enum class CutDirections : uint8_t { kEither, kBoth, kOne };

struct ChaosOptions {
  std::vector<ChaosInterval> intervals;
  absl::Duration stop_for;
  absl::Duration cut_for;
  CutDirections cut_directions = CutDirections::kEither;  // kEither: drawn for each cut
  uint64_t seed = 1;
  absl::Duration total = absl::InfiniteDuration();
  absl::Duration undisturbed_for;  // rounds are counted for so long before the first fault
  std::string progress_path;       // empty: nothing is measured
};

// Ends when the time is over, `signals` tell it to, the training is over, or the job is gone. Writes a line for each
// fault. The error says what the job lacks for the faults that were asked for.
absl::StatusOr<ChaosOutcome> RunChaos(const ChaosOptions& options, ChaosJob& job, const StopSignals& signals,
                                      std::ostream& out);

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_RUN_H_
