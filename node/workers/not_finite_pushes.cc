#include "node/workers/not_finite_pushes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "node/workers/call_subject.h"

namespace banyan {
namespace {

const char* FateUnder(NotFiniteRule rule) {
  switch (rule) {
    case NotFiniteRule::kKeep:
      return "which goes into the sum (aggregation.not_finite is keep)";
    case NotFiniteRule::kSkip:
      return "and has no part in the round (aggregation.not_finite is skip)";
    case NotFiniteRule::kFail:
      break;
  }
  return "which ends the job (aggregation.not_finite is fail)";
}

}  // namespace

std::string NotFinitePushes::Describe(const Push& push) {
  return absl::StrCat("worker ", push.worker.value(), " pushed NaN or infinity in ", push.not_finite, " of ",
                      push.elements, " values");
}

void NotFinitePushes::Note(StepContext& step, const Push& push) {
  ++pushes_;
  const bool has_row = counts_.contains(push.key) || counts_.size() + 1 < NodeReport::kMostNotFinite;
  Count& count = counts_[has_row ? push.key : KeyId()];
  count.values += push.not_finite;
  count.last = std::max(count.last, push.round);
  if (logged_at_.has_value() && step.now - *logged_at_ < kLogInterval) return;
  logged_at_ = step.now;
  std::string text = absl::StrCat(RoundText(push.name, push.round), ": ", Describe(push), ", ", FateUnder(rule_));
  if (pushes_ > 1) absl::StrAppend(&text, "; ", pushes_, " such pushes so far");
  step.Log(LogLevel::kWarning, std::move(text));
}

std::vector<NodeReport::NotFinite> NotFinitePushes::Report() const {
  std::vector<NodeReport::NotFinite> rows;
  for (const auto& [key, count] : counts_) rows.push_back({key, count.values, count.last});
  return rows;
}

}  // namespace banyan
