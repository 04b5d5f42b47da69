// Decides whether a process that has failed is started again, and when. Pure; thread-compatible; owned by whoever
// supervises the process.
//
// Invariants:
// - a process that runs for kShortLife between failures is started again for ever;
// - one that fails kMostFailures times in a row, each time sooner than that, is given up; the pauses between double;
// - who is killed from outside (SIGKILL) has not failed by itself, and such an end is not counted.
#ifndef BANYAN_TOOLS_SUPERVISION_RESTART_BUDGET_H_
#define BANYAN_TOOLS_SUPERVISION_RESTART_BUDGET_H_

#include <optional>

#include "absl/time/time.h"

namespace banyan {

class RestartBudget {
 public:
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(500);
  static constexpr absl::Duration kShortLife = absl::Seconds(10);
  static constexpr int kMostFailures = 5;

  // The process has failed after `lifetime`. Returns how long to wait before the next start; nothing when it is given
  // up.
  std::optional<absl::Duration> OnFailure(absl::Duration lifetime, bool was_killed);
  // Forgets failures that were another's fault.
  void Forgive() { failures_in_a_row_ = 0; }

  int failures_in_a_row() const { return failures_in_a_row_; }

 private:
  int failures_in_a_row_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_SUPERVISION_RESTART_BUDGET_H_
