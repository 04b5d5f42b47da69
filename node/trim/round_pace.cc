#include "node/trim/round_pace.h"

#include <algorithm>
#include <vector>

namespace banyan {

void RoundPace::OnChunk(Round round, uint32_t place, Timestamp now) {
  if (seen_.try_emplace(round, Seen{now, {}}).second) EndBefore(round);
  places_ = std::max(places_, place + 1);
}

void RoundPace::OnComplete(Round round, Timestamp now) {
  const auto seen = seen_.find(round);
  if (seen != seen_.end()) seen->second.complete = now;
}

void RoundPace::EndBefore(Round round) {
  for (auto seen = seen_.begin(); seen != seen_.end() && seen->first < round; seen = seen_.erase(seen)) {
    if (!seen->second.complete.has_value()) continue;
    took_.push_back(*seen->second.complete - seen->second.begun);
    if (took_.size() > kRemembered) took_.pop_front();
  }
}

std::optional<RoundPace::Due> RoundPace::DueOf(Round round, uint32_t place) const {
  const auto seen = seen_.find(round);
  if (seen == seen_.end() || took_.size() < kLearned) return std::nullopt;
  const absl::Duration whole = FastRound();
  const double part = static_cast<double>(place + 1) / places_;
  return Due{seen->second.begun + part * whole, kSlack * whole};
}

absl::Duration RoundPace::FastRound() const {
  std::vector<absl::Duration> sorted(took_.begin(), took_.end());
  const auto quarter = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 4);
  std::nth_element(sorted.begin(), quarter, sorted.end());
  return *quarter;
}

}  // namespace banyan
