#include "node/workers/grace.h"

#include <algorithm>

namespace banyan {

void Grace::Lateness::Add(absl::Duration late, absl::Duration most) {
  // A worker that hung once is not to be waited for in many rounds.
  late = std::min(late, most);
  if (++rounds == 1) {
    mean = late;
    deviation = late / 2;
    return;
  }
  deviation += (absl::AbsDuration(late - mean) - deviation) / 4;
  mean += (late - mean) / 8;
}

void Grace::OnArrival(Round round, absl::Duration late) {
  if (round <= newest_) {
    latest_ = std::max(latest_, late);
    return;
  }
  if (newest_ > Round(0) && step_.has_value()) {
    lateness_.Add(latest_, 2 * *step_);
    in_vain_ = latest_ > *step_ ? in_vain_ + 1 : 0;
  }
  newest_ = round;
  latest_ = late;
}

void Grace::OnStep(absl::Duration step) { step_ = step_.has_value() ? *step_ + (step - *step_) / 8 : step; }

absl::Duration Grace::wait() const {
  if (fixed_.has_value()) return *fixed_;
  if (!step_.has_value() || lateness_.rounds + 1 < kLeastRounds) return kUnmeasured;
  Lateness all = lateness_;
  all.Add(latest_, 2 * *step_);
  const absl::Duration least = std::max(kLeast, *step_ / 10);
  if (latest_ > *step_ && in_vain_ + 1 >= kMostInVain) return least;
  return std::max(least, std::min(all.mean + 4 * all.deviation, *step_ / 2));
}

}  // namespace banyan
