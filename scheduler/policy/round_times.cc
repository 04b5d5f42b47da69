#include "scheduler/policy/round_times.h"

#include <algorithm>
#include <utility>

namespace banyan {

void RoundTimes::Accept(Timestamp now, NodeId node, const NodeReport::Synchronisation& last, int64_t model_elements) {
  const bool is_new = std::exchange(counts_[node], last.count) != last.count;
  if (!is_new || last.elements != model_elements) return;
  ++ended_[node];
  rounds_[node] = Round{now + -last.duration, last.duration};
  NoteRound(node, rounds_[node]);
}

void RoundTimes::NoteRound(NodeId node, const Round& round) {
  if (!governing_since_.has_value() || round.began_at < *governing_since_) return;
  told_[node] = round.duration;
  absl::Duration longest;
  for (const NodeId member : members_) {
    const auto told = told_.find(member);
    if (told == told_.end()) return;
    longest = std::max(longest, told->second);
  }
  told_.clear();
  if (!std::exchange(is_settled_, true)) return;
  if (governed_.size() == kMostKept) governed_.erase(governed_.begin());
  governed_.push_back(longest);
}

void RoundTimes::NoteAdopted(Timestamp now, std::vector<NodeId> members, absl::Duration promised) {
  adopted_at_ = now;
  members_ = std::move(members);
  promised_ = promised;
  governing_since_.reset();
  told_.clear();
  is_settled_ = false;
  governed_.clear();
  overhead_ = 1;
  samples_ = 0;
}

void RoundTimes::NoteGoverning(Timestamp now) {
  if (!governing_since_.has_value()) governing_since_ = now;
}

uint64_t RoundTimes::ended() const {
  uint64_t most = 0;
  for (const NodeId member : members_) {
    const auto found = ended_.find(member);
    if (found != ended_.end()) most = std::max(most, found->second);
  }
  return most;
}

absl::Duration RoundTimes::GovernedFor(Timestamp now) const {
  return governing_since_.has_value() ? now - *governing_since_ : absl::ZeroDuration();
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
  return last.has_value() ? std::min(predicted, *last / Overhead()) : predicted;
}

double RoundTimes::Overhead() const {
  const bool is_promised = promised_ > absl::ZeroDuration() && promised_ < absl::InfiniteDuration();
  if (samples_ > 0 || governed_.empty() || !is_promised) return overhead_;
  return std::max(1.0, absl::FDivDuration(*std::min_element(governed_.begin(), governed_.end()), promised_));
}

void RoundTimes::Learn(absl::Duration predicted, Timestamp since) {
  const std::optional<absl::Duration> last = Last(since);
  if (!last.has_value() || predicted <= absl::ZeroDuration()) return;
  // What was promised counts like a planning.
  if (samples_ == 0 && Overhead() > overhead_) {
    overhead_ = Overhead();
    samples_ = 1;
  }
  samples_ = std::min(samples_ + 1, kMostSamples);
  const double sample = std::max(1.0, absl::FDivDuration(*last, predicted));
  overhead_ += (sample - overhead_) / samples_;
}

}  // namespace banyan
