// What `banyan chaos` prints at its end, and whether a job has survived as Banyan promises. Pure functions.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_REPORT_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/chaos/chaos_plan.h"
#include "tools/chaos/chaos_watch.h"

namespace banyan {

// How a run of `banyan chaos` has ended.
enum class ChaosEnd : uint8_t { kTimeIsOver, kInterrupted, kTrainingIsOver, kJobIsGone };

struct ChaosOutcome {
  ChaosEnd end = ChaosEnd::kTimeIsOver;
  absl::Duration time;  // with faults
  std::vector<ChaosFault> faults;
  ChaosFigures figures;
};

// Several lines, for people.
std::string FormatOutcome(const ChaosOutcome& outcome);
// One JSON object on a line; times in seconds.
std::string FormatOutcomeJson(const ChaosOutcome& outcome);

// Checks what a job is to keep when its nodes are killed. Survivors have their next result within 1.5 s in the median
// and 3 s in 99 of 100. Whoever was killed contributes again within 5 s. There are at least 0.88 of the rounds per
// hour. DEADLINE_EXCEEDED names all that is missed, FAILED_PRECONDITION what was not measured.
absl::Status CheckSurvival(const ChaosFigures& figures);

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_REPORT_H_
