#include "node/early_store.h"

namespace banyan {
namespace {

// A kept header, without what follows its path and its frames.
constexpr int64_t kHeaderBytes = 256;
constexpr int64_t kFrameBytes = sizeof(FrameHeader) + sizeof(Buffer);

}  // namespace

int64_t KeptBytes(const ChunkMessage& message, const Payload& payload) {
  return PayloadBytes(payload) + kHeaderBytes + kFrameBytes * static_cast<int64_t>(message.frames.size()) +
         static_cast<int64_t>(message.route.path.size() * sizeof(NodeId));
}

int64_t KeptBytes(int64_t chunks, int64_t elements) {
  return chunks * (elements * SizeOf(DataType::kFloat32) + 2 * kHeaderBytes);
}

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
