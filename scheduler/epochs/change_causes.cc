#include "scheduler/epochs/change_causes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

// A change of a thousand members is told in few words.
constexpr size_t kMostReasonsTold = 8;

}  // namespace

std::string ChangeCauses::Causes::Describe() const {
  const size_t told = std::min(reasons.size(), kMostReasonsTold);
  const std::string text = absl::StrJoin(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(told), "; ");
  return told == reasons.size() ? text : absl::StrCat(text, "; and ", reasons.size() - told, " more");
}

void ChangeCauses::FallOut(Timestamp now, NodeId node, const std::string& why) {
  if (IsFalling(node)) return;
  Add(now, why);
  causes_->fallen.insert(node);
}

void ChangeCauses::Add(Timestamp now, const std::string& why) {
  if (!causes_.has_value()) causes_ = Causes{now, {}, {}};
  std::vector<std::string>& reasons = causes_->reasons;
  if (std::find(reasons.begin(), reasons.end(), why) == reasons.end()) reasons.push_back(why);
}

Timestamp ChangeCauses::NextDeadline() const {
  return causes_.has_value() ? causes_->since + kMembershipBatch : kNever;
}

std::optional<ChangeCauses::Causes> ChangeCauses::Take(Timestamp now) {
  if (now < NextDeadline()) return std::nullopt;
  return TakeAll();
}

}  // namespace banyan
