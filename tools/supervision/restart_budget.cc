#include "tools/supervision/restart_budget.h"

namespace banyan {

std::optional<absl::Duration> RestartBudget::OnFailure(absl::Duration lifetime, bool was_killed) {
  if (was_killed) return kFirstPause;
  failures_in_a_row_ = lifetime < kShortLife ? failures_in_a_row_ + 1 : 1;
  if (failures_in_a_row_ >= kMostFailures) return std::nullopt;
  return kFirstPause * (1 << (failures_in_a_row_ - 1));
}

}  // namespace banyan
