#include "node/peer_link.h"

#include <algorithm>
#include <utility>

namespace banyan {
namespace {

// A chunk header on the wire, without its path.
constexpr int64_t kHeaderBytes = 64;
constexpr int64_t kPathEntryBytes = 2;
// Acks come this many times later than the slowest recent one before they count as lost.
constexpr int kOverdueFactor = 4;

bool IsRelayed(const ChunkMessage& message) { return message.route.hop > 0; }

}  // namespace

int64_t WireBytes(const ChunkMessage& message, const Payload& payload) {
  return PayloadBytes(payload) + kHeaderBytes + kPathEntryBytes * static_cast<int64_t>(message.route.path.size());
}

PeerLink::PeerLink(Options options, std::vector<ConnectionId> data) : options_(options) {
  for (ConnectionId connection : data) connections_[connection];
}

void PeerLink::Add(ChunkMessage message, Payload payload, bool resend) {
  Waiting chunk{std::move(message), std::move(payload), 0, resend};
  chunk.size_bytes = WireBytes(chunk.message, chunk.payload);
  queued_bytes_ += chunk.size_bytes;
  if (IsRelayed(chunk.message)) relayed_bytes_ += chunk.size_bytes;
  const QueueRank rank{chunk.size_bytes > options_.tiny_bytes, -chunk.message.priority, next_arrival_++};
  queue_.emplace(rank, std::move(chunk));
}

void PeerLink::Clear() {
  queue_.clear();
  in_flight_.clear();
  queued_bytes_ = 0;
  in_flight_bytes_ = 0;
  relayed_bytes_ = 0;
  for (auto& [id, connection] : connections_) connection.in_flight_bytes = 0;
}

std::pair<const ConnectionId, PeerLink::DataConnection>* PeerLink::BestConnection() {
  std::pair<const ConnectionId, DataConnection>* best = nullptr;
  for (auto& entry : connections_) {
    if (!entry.second.up) continue;
    if (best == nullptr || entry.second.in_flight_bytes < best->second.in_flight_bytes) best = &entry;
  }
  return best;
}

void PeerLink::Pump(Timestamp now, Actions& actions) {
  while (!queue_.empty()) {
    const int64_t size_bytes = queue_.begin()->second.size_bytes;
    if (in_flight_bytes_ > 0 && in_flight_bytes_ + size_bytes > options_.window_bytes) return;
    auto* best = BestConnection();
    if (best == nullptr) return;
    best->second.in_flight_bytes += size_bytes;
    SendOne(now, best->first, actions);
  }
}

void PeerLink::SendOne(Timestamp now, ConnectionId connection, Actions& actions) {
  auto node = queue_.extract(queue_.begin());
  InFlight sent{std::move(node.mapped()), node.key(), connection, now};
  sent.chunk.message.link_sequence = next_sequence_++;
  sent.chunk.message.sent_at = now;
  queued_bytes_ -= sent.chunk.size_bytes;
  in_flight_bytes_ += sent.chunk.size_bytes;
  counters_.sent_bytes += sent.chunk.size_bytes;
  if (sent.chunk.resend) counters_.resent_bytes += sent.chunk.size_bytes;
  actions.emplace_back(std::in_place_type<Send>, Send{connection, sent.chunk.message, sent.chunk.payload});
  const uint64_t sequence = sent.chunk.message.link_sequence;
  in_flight_.emplace_hint(in_flight_.end(), sequence, std::move(sent));
}

void PeerLink::Remove(std::map<uint64_t, InFlight>::iterator entry) {
  const InFlight& sent = entry->second;
  in_flight_bytes_ -= sent.chunk.size_bytes;
  connections_[sent.connection].in_flight_bytes -= sent.chunk.size_bytes;
  in_flight_.erase(entry);
}

void PeerLink::Requeue(std::map<uint64_t, InFlight>::iterator entry) {
  Waiting chunk = std::move(entry->second.chunk);
  const QueueRank rank = entry->second.rank;
  entry->second.chunk.size_bytes = chunk.size_bytes;
  Remove(entry);
  chunk.resend = true;
  queued_bytes_ += chunk.size_bytes;
  queue_.emplace(rank, std::move(chunk));
}

std::optional<ChunkMessage> PeerLink::OnLinkAck(uint64_t link_sequence, Timestamp now) {
  auto entry = in_flight_.find(link_sequence);
  if (entry == in_flight_.end()) return std::nullopt;
  const absl::Duration took = now - entry->second.sent_at;
  // Forgets a slow ack within a few dozen fast ones.
  slowest_ack_ = std::max(took, slowest_ack_ - slowest_ack_ / 16);
  last_ack_ = now;
  if (IsRelayed(entry->second.chunk.message)) relayed_bytes_ -= entry->second.chunk.size_bytes;
  ChunkMessage acknowledged = std::move(entry->second.chunk.message);
  Remove(entry);
  return acknowledged;
}

void PeerLink::OnConnectionUp(ConnectionId connection) {
  auto entry = connections_.find(connection);
  if (entry != connections_.end()) entry->second.up = true;
}

void PeerLink::OnConnectionDown(ConnectionId connection) {
  auto lost = connections_.find(connection);
  if (lost == connections_.end()) return;
  lost->second.up = false;
  for (auto entry = in_flight_.begin(); entry != in_flight_.end();) {
    auto current = entry++;
    if (current->second.connection == connection) Requeue(current);
  }
}

absl::Duration PeerLink::ResendTimeout() const {
  return std::max(options_.resend_after, kOverdueFactor * slowest_ack_);
}

Timestamp PeerLink::NextDeadline() const {
  if (in_flight_.empty()) return kNever;
  return std::max(in_flight_.begin()->second.sent_at, last_ack_) + ResendTimeout();
}

void PeerLink::ResendOverdue(Timestamp now) {
  if (now < NextDeadline()) return;
  // Doubles the wait, in case the link is only slower than anything seen so far.
  slowest_ack_ = std::max(slowest_ack_ * 2, options_.resend_after / 2);
  last_ack_ = now;
  const absl::Duration timeout = options_.resend_after;
  for (auto entry = in_flight_.begin(); entry != in_flight_.end();) {
    auto current = entry++;
    if (now - current->second.sent_at >= timeout) Requeue(current);
  }
}

}  // namespace banyan
