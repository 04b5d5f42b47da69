#include "node/rounds/broadcast_half.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

// Order matters: the same chunks in another order are another result.
uint64_t CombineHashes(uint64_t so_far, uint64_t next) {
  const uint64_t mixed = (so_far ^ next) * 0x9fb21c651e98df25ULL;
  return (mixed ^ (mixed >> 32)) + 0x9e3779b97f4a7c15ULL;
}

}  // namespace

BroadcastHalf::BroadcastHalf(KeyId key, Round round, const PolicyBook::Binding& binding, TensorMemory* memory,
                             ComputationTable* computations, Owner* owner)
    : key_(key),
      round_(round),
      memory_(memory),
      computations_(computations),
      owner_(owner),
      chunks_(binding.chunks->ChunksOf(key)),
      unread_(chunks_.size()) {
  for (uint32_t index = 0; index < chunks_.size(); ++index) {
    chunks_[index].range = binding.chunks->RangeOf(key, ChunkIndex(index));
  }
}

void BroadcastHalf::Take(StepContext& step, RoundKind kind, ChunkIndex index, const std::vector<NodeId>& children,
                         CheckedChunk result) {
  Chunk& chunk = chunks_[index.value()];
  BANYAN_CHECK(chunk.result.empty() && chunk.values.empty());
  chunk.result = result;
  for (NodeId child : children) owner_->OnResultFor(step, key_, round_, index, child, result);
  std::optional<OptimizerStep> optimizer;
  if (kind != RoundKind::kBroadcast) optimizer = memory_->Step(chunk.range);
  auto work = std::make_unique<ReadResult>(std::move(result), std::move(optimizer));
  computations_->Start<ReadResult>(
      step, std::move(work),
      [owner = owner_, key = key_, round = round_, index, kind](StepContext& later, ReadResult& done) {
        BroadcastHalf* half = owner->FindBroadcastHalf(later, key, round);
        if (half != nullptr) half->OnRead(later, index, kind, done);
      });
}

void BroadcastHalf::OnRead(StepContext& step, ChunkIndex index, RoundKind kind, const ReadResult& done) {
  Chunk& chunk = chunks_[index.value()];
  chunk.values = done.values();
  chunk.hash = done.hash();
  if (memory_->has_optimizer() && kind == RoundKind::kBroadcast) {
    // Values that everybody agrees on replace the parameters.
    Buffer replica = memory_->Replica(chunk.range);
    DecodeChunk(done.result(), replica.mutable_floats());
  }
  owner_->OnRead(step, key_, round_, chunk.range.first_element, chunk.values);
  if (--unread_ > 0) return;
  if (kind != RoundKind::kBroadcast) memory_->EndStep();
  owner_->OnAllRead(step, key_, round_, Hash());
}

uint64_t BroadcastHalf::Hash() const {
  uint64_t hash = 0;
  for (const Chunk& chunk : chunks_) hash = CombineHashes(hash, chunk.hash);
  return hash;
}

void BroadcastHalf::Replay(const Sink& sink) const {
  for (const Chunk& chunk : chunks_) {
    if (!chunk.values.empty()) sink(chunk.range.first_element, chunk.values);
  }
}

void BroadcastHalf::DropResults() {
  for (Chunk& chunk : chunks_) chunk.result = CheckedChunk();
}

int64_t BroadcastHalf::size_bytes() const {
  int64_t bytes = 0;
  for (const Chunk& chunk : chunks_) bytes += std::max(chunk.result.payload_bytes(), chunk.values.size_bytes());
  return bytes;
}

}  // namespace banyan
