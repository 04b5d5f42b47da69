#include "node/peer_link.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "node/chunk_size.h"
#include "node/link_ack_buffer.h"

namespace banyan {
namespace {

// Acks come this many times later than the slowest recent one before they count as lost.
constexpr int kOverdueFactor = 4;
constexpr int kMostDoublings = 6;
// An ack is late when it takes this many times what it should on this link.
constexpr double kLateFactor = 1.5;
// Chunks that are looked at for one that may take a detour.
constexpr int kDetourLookahead = 16;

bool IsRelayed(const ChunkMessage& message) { return message.route.hop > 0; }

}  // namespace

PeerLink::PeerLink(Options options, std::vector<ConnectionId> data) : options_(options) {
  for (ConnectionId connection : data) connections_[connection];
}

void PeerLink::Enqueue(ChunkMessage message, Payload payload, bool resend) {
  Waiting chunk{std::move(message), std::move(payload), 0, resend};
  chunk.size_bytes = WireBytes(chunk.message, chunk.payload);
  queued_bytes_ += chunk.size_bytes;
  if (IsRelayed(chunk.message)) relayed_bytes_ += chunk.size_bytes;
  const ChunkId& id = chunk.message.id;
  const uint64_t later_by = id.half == Half::kBroadcast ? kGradientsBeforeResult : 0;
  const QueueRank rank{chunk.message.is_auxiliary,     chunk.size_bytes > options_.tiny_bytes,
                       -chunk.message.priority,        id.round,
                       chunk.message.place + later_by, next_arrival_++};
  queue_.emplace(rank, std::move(chunk));
}

PeerLink::Queued PeerLink::TakeQueued(std::map<QueueRank, Waiting>::iterator entry) {
  Waiting& chunk = entry->second;
  queued_bytes_ -= chunk.size_bytes;
  if (IsRelayed(chunk.message)) relayed_bytes_ -= chunk.size_bytes;
  Queued taken{std::move(chunk.message), std::move(chunk.payload), chunk.resend};
  queue_.erase(entry);
  return taken;
}

std::optional<PeerLink::Queued> PeerLink::TakeForDetour(const Wants& wants) {
  int looked_at = 0;
  for (auto entry = queue_.begin(); entry != queue_.end() && looked_at < kDetourLookahead; ++entry, ++looked_at) {
    const ChunkMessage& message = entry->second.message;
    if (message.is_auxiliary) return std::nullopt;
    if (!IsRelayed(message) && wants(message, entry->second.size_bytes)) return TakeQueued(entry);
  }
  return std::nullopt;
}

bool PeerLink::IsStuck(Timestamp now) const {
  if (!is_up()) return was_up_ || (waits_since_.has_value() && now - *waits_since_ > kStuckAfter);
  return !in_flight_.empty() && now - std::max(in_flight_.begin()->second.sent_at, last_ack_) > kStuckAfter;
}

std::vector<PeerLink::Queued> PeerLink::TakeAuxiliary() {
  std::vector<Queued> taken;
  for (auto entry = FirstAuxiliary(); entry != queue_.end();) taken.push_back(TakeQueued(entry++));
  return taken;
}

bool PeerLink::is_up() const {
  return std::any_of(connections_.begin(), connections_.end(), [](const auto& entry) { return entry.second.up; });
}

std::map<PeerLink::QueueRank, PeerLink::Waiting>::iterator PeerLink::FirstAuxiliary() {
  QueueRank lowest;
  lowest.auxiliary = true;
  lowest.negative_priority = std::numeric_limits<int32_t>::min();
  return queue_.lower_bound(lowest);
}

std::map<PeerLink::QueueRank, PeerLink::Waiting>::iterator PeerLink::NextToSend() {
  if (primary_in_a_row_ < kPrimaryPerAuxiliary) return queue_.begin();
  auto auxiliary = FirstAuxiliary();
  return auxiliary == queue_.end() ? queue_.begin() : auxiliary;
}

void PeerLink::Clear() {
  queue_.clear();
  in_flight_.clear();
  settled_.clear();
  queued_bytes_ = 0;
  in_flight_bytes_ = 0;
  relayed_bytes_ = 0;
  for (auto& [id, connection] : connections_) connection.in_flight_bytes = connection.overtaken = 0;
}

std::pair<const ConnectionId, PeerLink::DataConnection>* PeerLink::BestConnection() {
  std::pair<const ConnectionId, DataConnection>* best = nullptr;
  std::pair<const ConnectionId, DataConnection>* overtaken = nullptr;
  int64_t seen = 0;
  for (auto& entry : connections_) {
    if (!entry.second.up) continue;
    if (entry.second.overtaken > 0) {
      overtaken = &entry;
      continue;
    }
    if (++seen > options_.window.connections) break;
    if (best == nullptr || entry.second.in_flight_bytes < best->second.in_flight_bytes) best = &entry;
  }
  return best != nullptr ? best : overtaken;
}

void PeerLink::Pump(Timestamp now, Actions& actions) {
  SendPaced(now, actions, [&] { SendQueued(now, actions); });
}

void PeerLink::SendPaced(Timestamp now, Actions& actions, absl::FunctionRef<void()> send) {
  CountUnsent(now);
  const auto first_sent = static_cast<std::ptrdiff_t>(actions.size());
  send();
  const auto first_paced = static_cast<std::ptrdiff_t>(actions.size());
  SharePace(actions);
  // Chunks go at the pace that they make themselves.
  std::rotate(actions.begin() + first_sent, actions.begin() + first_paced, actions.end());
}

void PeerLink::CountUnsent(Timestamp now) {
  const double seconds = absl::ToDoubleSeconds(now - unsent_counted_at_);
  unsent_counted_at_ = now;
  for (auto& [id, connection] : connections_) {
    const double paced_bytes = options_.window.pace_bps / 8 / static_cast<double>(carriers_) * seconds;
    // Nobody knows how fast one is that has no pace.
    connection.unsent_bytes =
        options_.window.pace_bps == kUnpaced ? 0 : std::max(0.0, connection.unsent_bytes - paced_bytes);
  }
}

void PeerLink::SharePace(Actions& actions) {
  carriers_ = std::max<int64_t>(1, std::count_if(connections_.begin(), connections_.end(),
                                                 [](const auto& entry) { return entry.second.unsent_bytes > 0; }));
  const bool has_pace = in_flight_bytes_ >= kLeastPacedChunkBytes * static_cast<int64_t>(in_flight_.size());
  const double part_bps = has_pace ? options_.window.pace_bps / static_cast<double>(carriers_) : kUnpaced;
  for (auto& [id, connection] : connections_) {
    if (connection.in_flight_bytes == 0 || connection.pace_bps == part_bps) continue;
    connection.pace_bps = part_bps;
    actions.emplace_back(std::in_place_type<Pace>, Pace{id, part_bps});
  }
}

void PeerLink::SendQueued(Timestamp now, Actions& actions) {
  while (!queue_.empty()) {
    const auto next = NextToSend();
    const int64_t size_bytes = next->second.size_bytes;
    if (in_flight_bytes_ > 0 && in_flight_bytes_ + size_bytes > options_.window.size_bytes) return;
    auto* best = BestConnection();
    if (best == nullptr) {
      if (!waits_since_.has_value()) waits_since_ = now;
      return;
    }
    best->second.in_flight_bytes += size_bytes;
    best->second.unsent_bytes += static_cast<double>(size_bytes);
    SendOne(now, next, best->first, actions);
  }
}

void PeerLink::CountBusy(Timestamp now) {
  if (!in_flight_.empty()) counters_.busy += now - busy_counted_at_;
  busy_counted_at_ = now;
}

void PeerLink::SendOne(Timestamp now, std::map<QueueRank, Waiting>::iterator next, ConnectionId connection,
                       Actions& actions) {
  CountBusy(now);
  auto node = queue_.extract(next);
  primary_in_a_row_ = node.key().auxiliary ? 0 : primary_in_a_row_ + 1;
  InFlight sent{std::move(node.mapped()), node.key(), connection, now};
  sent.chunk.message.link_sequence = next_sequence_++;
  sent.chunk.message.sent_at = now;
  sent.chunk.message.ack_may_wait = AckMayWait(sent.chunk.size_bytes);
  queued_bytes_ -= sent.chunk.size_bytes;
  in_flight_bytes_ += sent.chunk.size_bytes;
  sent.ack_after = options_.window.AckAfter(in_flight_bytes_);
  sent.late_after = kLateFactor * slowness_ * sent.ack_after;
  counters_.sent_bytes += sent.chunk.size_bytes;
  if (sent.chunk.resend) counters_.resent_bytes += sent.chunk.size_bytes;
  if (sent.chunk.message.is_auxiliary) counters_.auxiliary_bytes += sent.chunk.size_bytes;
  actions.emplace_back(std::in_place_type<Send>, Send{connection, sent.chunk.message, sent.chunk.payload});
  const uint64_t sequence = sent.chunk.message.link_sequence;
  in_flight_.emplace_hint(in_flight_.end(), sequence, std::move(sent));
}

bool PeerLink::AckMayWait(int64_t size_bytes) const {
  if (queue_.empty() || in_flight_.size() < kAheadOfSharedAck) return false;
  return options_.window.TimeOf(size_bytes) < LinkAckBuffer::kLongestWait;
}

void PeerLink::Remove(std::map<uint64_t, InFlight>::iterator entry) {
  const InFlight& sent = entry->second;
  in_flight_bytes_ -= sent.chunk.size_bytes;
  connections_[sent.connection].in_flight_bytes -= sent.chunk.size_bytes;
  in_flight_.erase(entry);
}

void PeerLink::Requeue(std::map<uint64_t, InFlight>::iterator entry) {
  if (entry->second.twin.has_value()) {
    // The other copy is still on its way.
    in_flight_.at(*entry->second.twin).twin.reset();
    return Remove(entry);
  }
  Waiting chunk = std::move(entry->second.chunk);
  const QueueRank rank = entry->second.rank;
  entry->second.chunk.size_bytes = chunk.size_bytes;
  Remove(entry);
  chunk.resend = true;
  queued_bytes_ += chunk.size_bytes;
  queue_.emplace(rank, std::move(chunk));
}

std::optional<ChunkMessage> PeerLink::OnLinkAck(uint64_t link_sequence, Timestamp now) {
  ForgetSettled([&](uint64_t settled, const Settled&) { return settled == link_sequence; });
  auto entry = in_flight_.find(link_sequence);
  if (entry == in_flight_.end()) return std::nullopt;
  CountBusy(now);
  const absl::Duration took = now - entry->second.sent_at;
  // Forgets a slow ack within a few dozen fast ones.
  slowest_ack_ = std::max(took, slowest_ack_ - slowest_ack_ / 16);
  last_ack_ = now;
  newest_acked_ = std::max(newest_acked_, entry->second.sent_at);
  timeouts_in_a_row_ = 0;
  CountSlowness(took, entry->second.ack_after);
  if (IsRelayed(entry->second.chunk.message)) relayed_bytes_ -= entry->second.chunk.size_bytes;
  ChunkMessage acknowledged = std::move(entry->second.chunk.message);
  if (entry->second.twin.has_value()) Settle(*entry->second.twin);
  Remove(entry);
  return acknowledged;
}

void PeerLink::OnConnectionUp(ConnectionId connection) {
  auto entry = connections_.find(connection);
  if (entry == connections_.end()) return;
  entry->second.up = true;
  was_up_ = true;
}

void PeerLink::OnConnectionDown(ConnectionId connection) {
  auto lost = connections_.find(connection);
  if (lost == connections_.end()) return;
  lost->second.up = false;
  lost->second.unsent_bytes = 0;
  ForgetSettled([&](uint64_t, const Settled& settled) { return settled.connection == connection; });
  for (auto entry = in_flight_.begin(); entry != in_flight_.end();) {
    auto current = entry++;
    if (current->second.connection == connection) Requeue(current);
  }
}

absl::Duration PeerLink::ResendTimeout() const {
  const int doublings = std::min(timeouts_in_a_row_, kMostDoublings);
  return std::max(options_.resend_after, kOverdueFactor * slowest_ack_) * (1 << doublings);
}

Timestamp PeerLink::NextDeadline() const {
  if (in_flight_.empty()) return kNever;
  return std::max(in_flight_.begin()->second.sent_at, last_ack_) + ResendTimeout();
}

void PeerLink::ResendOverdue(Timestamp now) {
  if (now < NextDeadline()) return;
  // Doubles the wait, in case the link is only slower than anything seen so far.
  ++timeouts_in_a_row_;
  last_ack_ = now;
  const absl::Duration timeout = options_.resend_after;
  ForgetSettled([&](uint64_t, const Settled& settled) { return now - settled.sent_at >= timeout; });
  for (auto entry = in_flight_.begin(); entry != in_flight_.end();) {
    auto current = entry++;
    if (now - current->second.sent_at >= timeout) Requeue(current);
  }
}

}  // namespace banyan
