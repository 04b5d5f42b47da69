#include "scheduler/scheduler_context.h"

#include <bit>

#include "scheduler/scheduler_limits.h"

namespace banyan {

std::optional<std::string> RejectionCounter::Reject(Timestamp now, const std::string& what) {
  ++count_;
  if (!interval_start_.has_value() || now - *interval_start_ >= kRejectionLineInterval) {
    interval_start_ = now;
    lines_ = 0;
  }
  if (said_.size() >= kMostRejectionsKept && said_.count(what) == 0) said_.clear();
  const uint64_t times = ++said_[what];
  if (lines_ >= kMaxRejectionLines || !std::has_single_bit(times)) {
    ++unsaid_;
    return std::nullopt;
  }
  ++lines_;
  std::string line = absl::StrCat("rejected: ", what);
  if (times > 1) absl::StrAppend(&line, " (", times, " times so far)");
  if (unsaid_ > 0) absl::StrAppend(&line, " (and ", unsaid_, " more since the last such line)");
  unsaid_ = 0;
  return line;
}

}  // namespace banyan
