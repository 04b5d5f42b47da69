#include "scheduler/round_times.h"

#include <algorithm>
#include <utility>

namespace banyan {

void RoundTimes::Accept(Timestamp now, NodeId node, const NodeReport::Synchronisation& last, int64_t model_elements) {
  const bool is_new = std::exchange(counts_[node], last.count) != last.count;
  if (is_new && last.elements == model_elements) rounds_[node] = Round{now + -last.duration, last.duration};
}

void RoundTimes::NoteAdopted(Timestamp now, std::vector<NodeId> members) {
  adopted_at_ = now;
  members_ = std::move(members);
  overhead_ = 1;
  samples_ = 0;
}

std::optional<absl::Duration> RoundTimes::Last(Timestamp since) const {
  std::optional<absl::Duration> longest;
  for (NodeId member : members_) {
    const auto round = rounds_.find(member);
    if (round == rounds_.end() || round->second.began_at < std::max(since, adopted_at_)) return std::nullopt;
    longest = std::max(longest.value_or(absl::ZeroDuration()), round->second.duration);
  }
  return longest;
}

absl::Duration RoundTimes::Credible(absl::Duration predicted, Timestamp since) const {
  const std::optional<absl::Duration> last = Last(since);
  return last.has_value() ? std::min(predicted, *last / overhead_) : predicted;
}

void RoundTimes::Learn(absl::Duration predicted, Timestamp since) {
  const std::optional<absl::Duration> last = Last(since);
  if (!last.has_value() || predicted <= absl::ZeroDuration()) return;
  samples_ = std::min(samples_ + 1, kMostSamples);
  const double sample = std::max(1.0, absl::FDivDuration(*last, predicted));
  overhead_ += (sample - overhead_) / samples_;
}

}  // namespace banyan
