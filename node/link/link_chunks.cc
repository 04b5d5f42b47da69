#include "node/link/link_chunks.h"

#include <limits>
#include <utility>

#include "core/check.h"
#include "node/chunk_size.h"

namespace banyan {

void LinkChunks::Enqueue(ChunkPtr chunk, bool resend) {
  const ChunkMessage& message = chunk->message;
  chunk->resend = resend;
  chunk->size_bytes = WireBytes(message, chunk->payload);
  chunk->frames = message.frames.size();
  const uint64_t later_by = message.id.half == Half::kBroadcast ? kGradientsBeforeResult : 0;
  chunk->rank = {.auxiliary = message.is_auxiliary,
                 .large = chunk->size_bytes > tiny_bytes_ && message.cut_frames == 0,
                 .negative_priority = -int64_t{message.priority},
                 .round = message.id.round,
                 .place = message.place + later_by,
                 .arrival = next_arrival_++};
  Wait(std::move(chunk));
}

void LinkChunks::Wait(ChunkPtr chunk) {
  Count(*chunk, chunk->size_bytes, queued_bytes_);
  const ChunkInFlight::Rank rank = chunk->rank;
  queue_.emplace(rank, std::move(chunk));
}

void LinkChunks::Count(const ChunkInFlight& chunk, int64_t size_bytes, int64_t& sum_bytes) {
  sum_bytes += size_bytes;
  if (chunk.is_relayed()) relayed_bytes_ += size_bytes;
}

ChunkPtr LinkChunks::Take(Queue::const_iterator entry) {
  ChunkPtr chunk = std::move(queue_.extract(entry).mapped());
  Count(*chunk, -chunk->size_bytes, queued_bytes_);
  return chunk;
}

ChunkPtr LinkChunks::TakeNext() {
  ChunkPtr chunk = Take(NextToSend());
  primary_in_a_row_ = chunk->rank.auxiliary ? 0 : primary_in_a_row_ + 1;
  return chunk;
}

ChunkPtr LinkChunks::TakeForAuxiliary(Wants wants) {
  int looked_at = 0;
  for (auto entry = queue_.begin(); entry != queue_.end() && looked_at < kAuxiliaryLookahead; ++entry, ++looked_at) {
    const ChunkInFlight& chunk = *entry->second;
    if (chunk.message.is_auxiliary) return nullptr;
    if (!chunk.is_relayed() && wants(chunk)) return Take(entry);
  }
  return nullptr;
}

std::vector<ChunkPtr> LinkChunks::TakeAuxiliary() {
  std::vector<ChunkPtr> taken;
  for (auto entry = FirstAuxiliary(); entry != queue_.end();) taken.push_back(Take(entry++));
  return taken;
}

std::optional<Round> LinkChunks::head_round() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.round;
}

LinkChunks::Queue::const_iterator LinkChunks::FirstAuxiliary() const {
  ChunkInFlight::Rank lowest;
  lowest.auxiliary = true;
  lowest.negative_priority = std::numeric_limits<int64_t>::min();
  return queue_.lower_bound(lowest);
}

LinkChunks::Queue::const_iterator LinkChunks::NextToSend() const {
  if (primary_in_a_row_ < kPrimaryPerAuxiliary) return queue_.begin();
  const auto auxiliary = FirstAuxiliary();
  return auxiliary == queue_.end() ? queue_.begin() : auxiliary;
}

const LinkChunks::Sent& LinkChunks::Send(ChunkPtr chunk, ConnectionId connection, AckTimes ack_times, Timestamp now) {
  const int64_t size_bytes = chunk->size_bytes;
  return Add({std::move(chunk), size_bytes, connection, next_sequence_++, now, ack_times, std::nullopt});
}

const LinkChunks::Sent& LinkChunks::SendTwin(uint64_t original, ConnectionId connection, absl::Duration ack_after,
                                             Timestamp now) {
  Sent& first = sent_.at(original);
  BANYAN_CHECK(!first.twin.has_value());
  first.twin = next_sequence_;
  const AckTimes ack_times = {ack_after, first.ack_times.late};
  return Add({first.chunk, first.size_bytes, connection, next_sequence_++, now, ack_times, original});
}

const LinkChunks::Sent& LinkChunks::Add(Sent sent) {
  Count(*sent.chunk, sent.size_bytes, in_flight_bytes_);
  connections_.Add(sent.connection, sent.size_bytes);
  const uint64_t sequence = sent.link_sequence;
  return sent_.emplace_hint(sent_.end(), sequence, std::move(sent))->second;
}

std::optional<LinkChunks::Sent> LinkChunks::Acknowledge(uint64_t link_sequence) {
  ForgetSettled([&](const Sent& settled) { return settled.link_sequence == link_sequence; });
  const auto entry = sent_.find(link_sequence);
  if (entry == sent_.end()) return std::nullopt;
  Sent acknowledged = std::move(Extract(entry).mapped());
  connections_.Remove(acknowledged.connection, acknowledged.size_bytes);
  if (acknowledged.twin.has_value()) {
    Sent& twin = settled_.insert(Extract(sent_.find(*acknowledged.twin))).position->second;
    // From now on the chunk may go again, in another size.
    twin.chunk.reset();
    connections_.Overtake(twin.connection);
  }
  return acknowledged;
}

void LinkChunks::OnConnectionDown(ConnectionId connection) {
  connections_.OnDown(connection);
  const auto is_on_it = [&](const Sent& sent) { return sent.connection == connection; };
  ForgetSettled(is_on_it);
  GiveUp(is_on_it);
}

void LinkChunks::GiveUpOlderThan(absl::Duration age, Timestamp now) {
  const auto is_old = [&](const Sent& sent) { return now - sent.sent_at >= age; };
  ForgetSettled(is_old);
  GiveUp(is_old);
}

void LinkChunks::Clear() {
  queue_.clear();
  sent_.clear();
  settled_.clear();
  queued_bytes_ = in_flight_bytes_ = relayed_bytes_ = 0;
  connections_.Clear();
}

LinkChunks::Copies::node_type LinkChunks::Extract(Copies::const_iterator entry) {
  Count(*entry->second.chunk, -entry->second.size_bytes, in_flight_bytes_);
  return sent_.extract(entry);
}

void LinkChunks::ForgetSettled(absl::FunctionRef<bool(const Sent&)> is_over) {
  std::erase_if(settled_, [&](const auto& entry) {
    const Sent& settled = entry.second;
    if (!is_over(settled)) return false;
    connections_.Remove(settled.connection, settled.size_bytes);
    connections_.Recover(settled.connection);
    return true;
  });
}

void LinkChunks::GiveUp(absl::FunctionRef<bool(const Sent&)> is_lost) {
  for (auto entry = sent_.begin(); entry != sent_.end();) {
    const auto current = entry++;
    if (!is_lost(current->second)) continue;
    Sent lost = std::move(Extract(current).mapped());
    connections_.Remove(lost.connection, lost.size_bytes);
    if (lost.twin.has_value()) {
      // The other copy is still on its way.
      sent_.at(*lost.twin).twin.reset();
      continue;
    }
    lost.chunk->resend = true;
    Wait(std::move(lost.chunk));
  }
}

}  // namespace banyan
