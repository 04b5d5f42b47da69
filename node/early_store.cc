#include "node/early_store.h"

#include <utility>

#include "node/chunk_size.h"

namespace banyan {

bool EarlyStore::HasRoomFor(const ChunkMessage& message, const Payload& payload) const {
  return size_bytes_ + KeptBytes(message, payload) <= capacity_bytes_;
}

size_t EarlyStore::DropUnknown(absl::FunctionRef<bool(const ChunkId&)> is_known, Timestamp before) {
  return DropIf([&](const Chunk& chunk) { return chunk.since < before && !is_known(chunk.message.id); });
}

size_t EarlyStore::DropBefore(Epoch epoch) {
  return DropIf([epoch](const Chunk& chunk) { return chunk.message.id.epoch < epoch; });
}

size_t EarlyStore::DropIf(absl::FunctionRef<bool(const Chunk& chunk)> is_useless) {
  size_t dropped = 0;
  for (auto& [round, chunks] : rounds_) {
    dropped += std::erase_if(chunks, [&](const auto& kept) {
      if (!is_useless(kept.second)) return false;
      size_bytes_ -= KeptBytes(kept.second.message, kept.second.payload);
      return true;
    });
  }
  std::erase_if(rounds_, [](const auto& round) { return round.second.empty(); });
  return dropped;
}

bool EarlyStore::Keep(ChunkMessage message, Payload payload, Timestamp now) {
  const int64_t size_bytes = KeptBytes(message, payload);
  std::pair<KeyId, Round> round{message.id.key, message.id.round};
  const ChunkKey chunk{message.id, message.route.source()};
  auto known = rounds_.find(round);
  if (known != rounds_.end() && known->second.count(chunk) > 0) return true;
  if (!HasRoomFor(message, payload)) return false;
  size_bytes_ += size_bytes;
  rounds_[round].emplace(chunk, Chunk{std::move(message), std::move(payload), now});
  return true;
}

std::vector<EarlyStore::Chunk> EarlyStore::Take(KeyId key, Round round) {
  std::vector<Chunk> taken;
  auto kept = rounds_.extract({key, round});
  if (kept.empty()) return taken;
  for (auto& [id, chunk] : kept.mapped()) {
    size_bytes_ -= KeptBytes(chunk.message, chunk.payload);
    taken.push_back(std::move(chunk));
  }
  return taken;
}

std::vector<Round> EarlyStore::RoundsOf(KeyId key) const {
  std::vector<Round> rounds;
  for (auto kept = rounds_.lower_bound({key, Round(0)}); kept != rounds_.end() && kept->first.first == key; ++kept) {
    rounds.push_back(kept->first.second);
  }
  return rounds;
}

void EarlyStore::Clear() {
  rounds_.clear();
  size_bytes_ = 0;
}

}  // namespace banyan
