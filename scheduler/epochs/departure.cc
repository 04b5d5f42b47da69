#include "scheduler/epochs/departure.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {

bool Departure::Note(Timestamp now, std::string what) {
  if (has_happened()) return false;
  what_ = std::move(what);
  due_ = now + patience_;
  return true;
}

bool Departure::TakeDue(Timestamp now) {
  if (!due_.has_value() || now < *due_) return false;
  due_.reset();
  return true;
}

std::optional<std::string> Departure::WhyStuck(const Member& member, const NodeReport* report,
                                               const Waits& waits) const {
  if (!has_happened() || member.state == MemberState::kLeft) return std::nullopt;
  const bool is_patient = due_.has_value();
  if (report == nullptr) return std::nullopt;
  for (const NodeReport::KeyProgress& row : report->progress) {
    if (!waits.keys.Contains(row.key) || row.pushed < waits.rounds.FirstOpen(row.key)) continue;
    // Whoever has left took part in no round after the last closed one: of those before, reports may be on their way.
    if (is_patient && row.pushed < waits.rounds.AfterClosed(row.key)) continue;
    return absl::StrCat(what_, ": ", waits.rounds.Describe(row.key, row.pushed), ", which ", member.name,
                        " has pushed, cannot run");
  }
  return std::nullopt;
}

}  // namespace banyan
