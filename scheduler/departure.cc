#include "scheduler/departure.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {

bool Departure::Note(Timestamp now, std::string what, bool is_asked_for) {
  if (has_happened()) return false;
  what_ = std::move(what);
  is_asked_for_ = is_asked_for;
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
  if (!is_patient && waits.barrier.entered().count(member.id) > 0) return Describe("it enters no barrier any more");
  if (report == nullptr) return std::nullopt;
  for (const NodeReport::KeyProgress& row : report->progress) {
    if (!waits.keys.Contains(row.key) || row.pushed < waits.rounds.FirstOpen(row.key)) continue;
    // Without a policy the round has not even begun.
    if (is_patient && waits.rounds.IsBound(row.key, row.pushed)) continue;
    return Describe(
        absl::StrCat(waits.rounds.Describe(row.key, row.pushed), ", which ", member.name, " has pushed, cannot run"));
  }
  return std::nullopt;
}

std::optional<std::string> Departure::WhyStuck(uint64_t barrier, const Waits& waits) const {
  if (!has_happened() || barrier < waits.barrier.next()) return std::nullopt;
  return Describe("it enters no barrier any more");
}

std::string Departure::Describe(const std::string& consequence) const { return absl::StrCat(what_, ": ", consequence); }

}  // namespace banyan
