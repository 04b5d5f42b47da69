#include "node/link/flight.h"

#include <utility>

#include "core/check.h"

namespace banyan {

const Flight::Sent& Flight::Add(SendQueue::Chunk chunk, ConnectionId connection, AckTimes ack_times, Timestamp now) {
  return Insert({std::move(chunk), connection, ack_times, std::nullopt}, now);
}

const Flight::Sent& Flight::AddTwin(uint64_t original, ConnectionId connection, absl::Duration ack_after,
                                    Timestamp now) {
  Sent& first = sent_.at(original);
  BANYAN_CHECK(!first.twin.has_value());
  first.twin = next_sequence_;
  Sent twin{first.chunk, connection, {ack_after, first.ack_times.late}, original};
  twin.chunk.message.ack_may_wait = false;
  return Insert(std::move(twin), now);
}

const Flight::Sent& Flight::Insert(Sent sent, Timestamp now) {
  const uint64_t sequence = next_sequence_++;
  sent.chunk.message.link_sequence = sequence;
  sent.chunk.message.sent_at = now;
  bytes_ += sent.chunk.size_bytes;
  if (sent.chunk.is_relayed()) relayed_bytes_ += sent.chunk.size_bytes;
  connections_.Add(sent.connection, sent.chunk.size_bytes);
  return sent_.emplace_hint(sent_.end(), sequence, std::move(sent))->second;
}

std::optional<Flight::Sent> Flight::Acknowledge(uint64_t link_sequence) {
  ForgetSettled([&](uint64_t settled, const Settled&) { return settled == link_sequence; });
  const auto entry = sent_.find(link_sequence);
  if (entry == sent_.end()) return std::nullopt;
  Sent acknowledged = Extract(entry);
  connections_.Remove(acknowledged.connection, acknowledged.chunk.size_bytes);
  if (acknowledged.twin.has_value()) Settle(*acknowledged.twin);
  return acknowledged;
}

std::vector<SendQueue::Chunk> Flight::OnConnectionDown(ConnectionId connection) {
  connections_.OnDown(connection);
  ForgetSettled([&](uint64_t, const Settled& settled) { return settled.connection == connection; });
  return GiveUp([&](const Sent& sent) { return sent.connection == connection; });
}

std::vector<SendQueue::Chunk> Flight::TakeOlderThan(absl::Duration age, Timestamp now) {
  ForgetSettled([&](uint64_t, const Settled& settled) { return now - settled.sent_at >= age; });
  return GiveUp([&](const Sent& sent) { return now - sent.sent_at() >= age; });
}

void Flight::Clear() {
  sent_.clear();
  settled_.clear();
  bytes_ = 0;
  relayed_bytes_ = 0;
  connections_.Clear();
}

Flight::Sent Flight::Extract(std::map<uint64_t, Sent>::iterator entry) {
  Sent sent = std::move(entry->second);
  sent_.erase(entry);
  bytes_ -= sent.chunk.size_bytes;
  if (sent.chunk.is_relayed()) relayed_bytes_ -= sent.chunk.size_bytes;
  return sent;
}

void Flight::Settle(uint64_t link_sequence) {
  const Sent sent = Extract(sent_.find(link_sequence));
  connections_.Overtake(sent.connection);
  settled_[link_sequence] = {sent.connection, sent.chunk.size_bytes, sent.sent_at()};
}

void Flight::ForgetSettled(absl::FunctionRef<bool(uint64_t link_sequence, const Settled&)> is_over) {
  std::erase_if(settled_, [&](const auto& entry) {
    const Settled& settled = entry.second;
    if (!is_over(entry.first, settled)) return false;
    connections_.Remove(settled.connection, settled.size_bytes);
    connections_.Recover(settled.connection);
    return true;
  });
}

std::vector<SendQueue::Chunk> Flight::GiveUp(absl::FunctionRef<bool(const Sent&)> is_lost) {
  std::vector<SendQueue::Chunk> lost_chunks;
  for (auto entry = sent_.begin(); entry != sent_.end();) {
    const auto current = entry++;
    if (!is_lost(current->second)) continue;
    Sent lost = Extract(current);
    connections_.Remove(lost.connection, lost.chunk.size_bytes);
    if (lost.twin.has_value()) {
      // The other copy is still on its way.
      sent_.at(*lost.twin).twin.reset();
      continue;
    }
    lost.chunk.resend = true;
    lost_chunks.push_back(std::move(lost.chunk));
  }
  return lost_chunks;
}

}  // namespace banyan
