// The part of PeerLink that sends what is late a second time.
#include <algorithm>
#include <utility>

#include "node/peer_link.h"

namespace banyan {
namespace {

constexpr double kSlownessWeight = 1.0 / 8;
// What went out before, by this part of the time that its ack should take, is overtaken. Connections that share a link
// are apart by less.
constexpr double kOvertakenAfter = 0.25;

}  // namespace

Timestamp PeerLink::NextHedge() const {
  Timestamp next = kNever;
  if (std::none_of(connections_.begin(), connections_.end(),
                   [](const auto& entry) { return entry.second.is_idle(); })) {
    return next;
  }
  for (const auto& [sequence, sent] : in_flight_) next = std::min(next, HedgeAt(sent));
  return next;
}

// A link that is slower than its policies know must not get copies of all that it carries.
void PeerLink::CountSlowness(absl::Duration took, absl::Duration ack_after) {
  if (ack_after == absl::InfiniteDuration() || ack_after <= absl::ZeroDuration()) return;
  slowness_ += kSlownessWeight * (absl::FDivDuration(took, ack_after) - slowness_);
  slowness_ = std::max(1.0, slowness_);
}

Timestamp PeerLink::HedgeAt(const InFlight& sent) const {
  const bool is_direct = sent.chunk.message.route.path.size() == 2;
  if (!is_direct || sent.twin.has_value() || sent.late_after == absl::InfiniteDuration()) return kNever;
  const bool is_last_of_round = queue_.empty() || queue_.begin()->first.round > sent.rank.round;
  const bool is_overtaken = newest_acked_ - sent.sent_at > kOvertakenAfter * sent.ack_after;
  if (is_last_of_round && is_overtaken) return newest_acked_;
  return (is_last_of_round ? sent.sent_at : std::max(sent.sent_at, last_ack_)) + sent.late_after;
}

std::pair<const ConnectionId, PeerLink::DataConnection>* PeerLink::IdleConnection() {
  const auto idle =
      std::find_if(connections_.begin(), connections_.end(), [](const auto& entry) { return entry.second.is_idle(); });
  return idle == connections_.end() ? nullptr : &*idle;
}

void PeerLink::Hedge(Timestamp now, Actions& actions) {
  SendPaced(now, actions, [&] {
    for (auto& [sequence, sent] : in_flight_) {
      if (now < HedgeAt(sent)) continue;
      auto* idle = IdleConnection();
      if (idle == nullptr) return;
      SendCopy(now, sent, *idle, actions);
    }
  });
}

void PeerLink::SendCopy(Timestamp now, InFlight& late, std::pair<const ConnectionId, DataConnection>& connection,
                        Actions& actions) {
  InFlight copy = late;
  copy.connection = connection.first;
  copy.sent_at = now;
  copy.ack_after = options_.window.AckAfter(in_flight_bytes_ + copy.chunk.size_bytes);
  copy.twin = late.chunk.message.link_sequence;
  copy.chunk.message.link_sequence = next_sequence_++;
  copy.chunk.message.sent_at = now;
  copy.chunk.message.ack_may_wait = false;
  late.twin = copy.chunk.message.link_sequence;
  const int64_t size_bytes = copy.chunk.size_bytes;
  connection.second.in_flight_bytes += size_bytes;
  connection.second.unsent_bytes += static_cast<double>(size_bytes);
  in_flight_bytes_ += size_bytes;
  counters_.sent_bytes += size_bytes;
  counters_.hedged_bytes += size_bytes;
  actions.emplace_back(std::in_place_type<Send>, Send{connection.first, copy.chunk.message, copy.chunk.payload});
  in_flight_.emplace_hint(in_flight_.end(), *late.twin, std::move(copy));
}

void PeerLink::Settle(uint64_t link_sequence) {
  const auto entry = in_flight_.find(link_sequence);
  const InFlight& sent = entry->second;
  in_flight_bytes_ -= sent.chunk.size_bytes;
  ++connections_[sent.connection].overtaken;
  settled_[link_sequence] = {sent.connection, sent.chunk.size_bytes, sent.sent_at};
  in_flight_.erase(entry);
}

void PeerLink::ForgetSettled(absl::FunctionRef<bool(uint64_t link_sequence, const Settled&)> is_over) {
  std::erase_if(settled_, [&](const auto& entry) {
    const Settled& settled = entry.second;
    if (!is_over(entry.first, settled)) return false;
    DataConnection& connection = connections_[settled.connection];
    connection.in_flight_bytes -= settled.size_bytes;
    --connection.overtaken;
    return true;
  });
}

}  // namespace banyan
