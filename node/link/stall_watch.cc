#include "node/link/stall_watch.h"

#include <algorithm>
#include <utility>

namespace banyan {

StallWatch::StallWatch(absl::Duration lost_after, const std::vector<ConnectionId>& connections)
    : lost_after_(lost_after) {
  for (const ConnectionId connection : connections) carriers_[connection];
}

void StallWatch::OnSent(ConnectionId connection, uint64_t link_sequence, Timestamp now) {
  Carrier& carrier = carriers_.at(connection);
  carrier.unanswered.push_back(link_sequence);
  if (!carrier.waits_since.has_value()) carrier.waits_since = now;
  if (!silent_since_.has_value()) silent_since_ = now;
}

std::optional<ConnectionId> StallWatch::CarrierOf(uint64_t link_sequence) const {
  for (const auto& [connection, carrier] : carriers_) {
    if (std::binary_search(carrier.unanswered.begin(), carrier.unanswered.end(), link_sequence)) return connection;
  }
  return std::nullopt;
}

std::optional<ConnectionId> StallWatch::OnAck(uint64_t link_sequence, Timestamp now) {
  const std::optional<ConnectionId> connection = CarrierOf(link_sequence);
  if (!connection.has_value()) return std::nullopt;
  Carrier& carrier = carriers_.at(*connection);
  while (!carrier.unanswered.empty() && carrier.unanswered.front() <= link_sequence) carrier.unanswered.pop_front();
  carrier.waits_since.reset();
  if (!carrier.unanswered.empty()) carrier.waits_since = now;
  carrier.found_at.reset();
  is_blocked_ = false;
  silent_since_.reset();
  for (auto& [id, other] : carriers_) {
    other.made_anew = 0;
    if (!other.unanswered.empty()) silent_since_ = now;
  }
  return connection;
}

absl::Duration StallWatch::OnConnectionDown(ConnectionId connection, Timestamp now) {
  const auto found = carriers_.find(connection);
  if (found == carriers_.end()) return absl::ZeroDuration();
  Carrier& carrier = found->second;
  carrier.unanswered.clear();
  const std::optional<Timestamp> waited_since = std::exchange(carrier.waits_since, std::nullopt);
  const bool is_stalled = std::exchange(carrier.found_at, std::nullopt).has_value();
  if (!is_stalled || !waited_since.has_value()) return absl::ZeroDuration();
  ++carrier.made_anew;
  return now - *waited_since;
}

void StallWatch::OnAckWayRenewed() {
  for (auto& [connection, carrier] : carriers_) carrier.made_anew = 0;
}

void StallWatch::Clear() {
  for (auto& [connection, carrier] : carriers_) carrier = Carrier();
  silent_since_.reset();
  is_blocked_ = false;
}

void StallWatch::ExcusePause(absl::Duration pause, Timestamp now) {
  for (auto& [connection, carrier] : carriers_) {
    if (carrier.waits_since.has_value()) carrier.waits_since = std::min(*carrier.waits_since + pause, now);
  }
  if (silent_since_.has_value()) silent_since_ = std::min(*silent_since_ + pause, now);
}

Timestamp StallWatch::DueAt(const Carrier& carrier, absl::Duration round_trip) const {
  if (!carrier.waits_since.has_value()) return kNever;
  if (carrier.found_at.has_value()) return *carrier.found_at + kFoundAgain * lost_after_;
  const absl::Duration wait = std::clamp(kRoundTrips * round_trip, kLeastWait * lost_after_, kMostWait * lost_after_);
  return *carrier.waits_since + wait * (1 << std::min(2 * carrier.made_anew, kMostDoublings));
}

std::vector<ConnectionId> StallWatch::FindStalled(Timestamp now, absl::Duration round_trip) {
  std::vector<ConnectionId> stalled;
  for (auto& [connection, carrier] : carriers_) {
    if (now < DueAt(carrier, round_trip)) continue;
    carrier.found_at = now;
    stalled.push_back(connection);
  }
  return stalled;
}

Timestamp StallWatch::NextDeadline(absl::Duration round_trip) const {
  Timestamp next = kNever;
  for (const auto& [connection, carrier] : carriers_) next = std::min(next, DueAt(carrier, round_trip));
  return next;
}

bool StallWatch::BecomesBlocked(Timestamp now, const SmallMessages& small) {
  if (is_blocked_ || Silence(now) < kBlockedAfter * lost_after_) return false;
  is_blocked_ = std::any_of(carriers_.begin(), carriers_.end(), [&](const auto& entry) {
    const Carrier& carrier = entry.second;
    if (carrier.made_anew == 0 || !carrier.waits_since.has_value()) return false;
    // An ack would have come on the connection that brings the answers.
    const bool may_be_answered = *carrier.waits_since >= small.heard_since;
    return may_be_answered && small.answered - *carrier.waits_since >= kLeastWait * lost_after_;
  });
  return is_blocked_;
}

absl::Duration StallWatch::Silence(Timestamp now) const {
  return silent_since_.has_value() ? now - *silent_since_ : absl::ZeroDuration();
}

}  // namespace banyan
