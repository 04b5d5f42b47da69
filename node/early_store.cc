#include "node/early_store.h"

#include <utility>

#include "node/chunk_size.h"

namespace banyan {

bool EarlyStore::Keep(ChunkMessage message, Payload payload) {
  const int64_t size_bytes = KeptBytes(message, payload);
  std::pair<KeyId, Round> round{message.id.key, message.id.round};
  const ChunkKey chunk{message.id, message.route.source()};
  auto known = rounds_.find(round);
  if (known != rounds_.end() && known->second.count(chunk) > 0) return true;
  if (size_bytes_ + size_bytes > capacity_bytes_) return false;
  size_bytes_ += size_bytes;
  rounds_[round].emplace(chunk, Chunk{std::move(message), std::move(payload)});
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

std::vector<std::pair<KeyId, Round>> EarlyStore::Rounds() const {
  std::vector<std::pair<KeyId, Round>> rounds;
  for (const auto& [round, chunks] : rounds_) rounds.push_back(round);
  return rounds;
}

void EarlyStore::Clear() {
  rounds_.clear();
  size_bytes_ = 0;
}

}  // namespace banyan
