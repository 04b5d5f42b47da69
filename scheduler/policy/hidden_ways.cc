#include "scheduler/policy/hidden_ways.h"

#include <algorithm>

namespace banyan {

void HiddenWays::OnRound(uint64_t ended, absl::Duration took, absl::Duration promised) {
  if (ended <= ended_) return;
  ended_ = ended;
  ++rounds_;
  if (suspected_at_ == 0) {
    const bool is_broken = promised > absl::ZeroDuration() && took > kBrokenPromise * promised;
    const bool is_learning = rounds_ < kFirstJudged || took < kStillFaster * fastest_without_;
    broken_ = is_broken && !is_learning ? broken_ + 1 : 0;
    if (broken_ == kBrokenRounds) suspected_at_ = rounds_;
    fastest_without_ = std::min(fastest_without_, took);
    return;
  }
  const uint64_t tried = rounds_ - suspected_at_;
  if (tried <= kUnjudged || tried > kUnjudged + kTried || took <= kAsFast * fastest_without_) return;
  if (++slower_ > kTried / 2) is_refuted_ = true;
}

}  // namespace banyan
