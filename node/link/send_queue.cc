#include "node/link/send_queue.h"

#include <limits>
#include <utility>

#include "node/chunk_size.h"

namespace banyan {

void SendQueue::Enqueue(ChunkMessage message, Payload payload, bool resend) {
  const int64_t size_bytes = WireBytes(message, payload);
  Chunk chunk{std::move(message), std::move(payload), resend, size_bytes, Rank()};
  const uint64_t later_by = chunk.message.id.half == Half::kBroadcast ? kGradientsBeforeResult : 0;
  chunk.rank = {.auxiliary = chunk.message.is_auxiliary,
                .large = chunk.size_bytes > tiny_bytes_ && chunk.message.cut_frames == 0,
                .negative_priority = -int64_t{chunk.message.priority},
                .round = chunk.message.id.round,
                .place = chunk.message.place + later_by,
                .arrival = next_arrival_++};
  Return(std::move(chunk));
}

void SendQueue::Return(Chunk chunk) {
  size_bytes_ += chunk.size_bytes;
  if (chunk.is_relayed()) relayed_bytes_ += chunk.size_bytes;
  const Rank rank = chunk.rank;
  chunks_.emplace(rank, std::move(chunk));
}

const SendQueue::Chunk& SendQueue::Next() const { return NextToSend()->second; }

SendQueue::Chunk SendQueue::TakeNext() {
  Chunk chunk = Take(NextToSend());
  primary_in_a_row_ = chunk.rank.auxiliary ? 0 : primary_in_a_row_ + 1;
  return chunk;
}

std::optional<SendQueue::Chunk> SendQueue::TakeForAuxiliary(Wants wants) {
  int looked_at = 0;
  for (auto entry = chunks_.begin(); entry != chunks_.end() && looked_at < kAuxiliaryLookahead; ++entry, ++looked_at) {
    const Chunk& chunk = entry->second;
    if (chunk.message.is_auxiliary) return std::nullopt;
    if (!chunk.is_relayed() && wants(chunk)) return Take(entry);
  }
  return std::nullopt;
}

std::vector<SendQueue::Chunk> SendQueue::TakeAuxiliary() {
  std::vector<Chunk> taken;
  for (auto entry = FirstAuxiliary(); entry != chunks_.end();) taken.push_back(Take(entry++));
  return taken;
}

void SendQueue::Clear() {
  chunks_.clear();
  size_bytes_ = 0;
  relayed_bytes_ = 0;
}

std::optional<Round> SendQueue::head_round() const {
  if (chunks_.empty()) return std::nullopt;
  return chunks_.begin()->first.round;
}

SendQueue::Chunks::const_iterator SendQueue::FirstAuxiliary() const {
  Rank lowest;
  lowest.auxiliary = true;
  lowest.negative_priority = std::numeric_limits<int64_t>::min();
  return chunks_.lower_bound(lowest);
}

SendQueue::Chunks::const_iterator SendQueue::NextToSend() const {
  if (primary_in_a_row_ < kPrimaryPerAuxiliary) return chunks_.begin();
  const auto auxiliary = FirstAuxiliary();
  return auxiliary == chunks_.end() ? chunks_.begin() : auxiliary;
}

SendQueue::Chunk SendQueue::Take(Chunks::const_iterator entry) {
  Chunk chunk = std::move(chunks_.extract(entry).mapped());
  size_bytes_ -= chunk.size_bytes;
  if (chunk.is_relayed()) relayed_bytes_ -= chunk.size_bytes;
  return chunk;
}

}  // namespace banyan
