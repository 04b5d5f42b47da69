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

BroadcastHalf::BroadcastHalf(KeyId key, Round round, const PolicyTable::Binding& binding, TensorMemory* memory,
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

bool BroadcastHalf::HasAny() const {
  return std::any_of(chunks_.begin(), chunks_.end(), [](const Chunk& chunk) { return chunk.is_taken; });
}

bool BroadcastHalf::Fits(const ChunkAssignment& chunks) const {
  if (chunks.ChunksOf(key_) != chunks_.size()) return false;
  for (uint32_t index = 0; index < chunks_.size(); ++index) {
    if (chunks.RangeOf(key_, ChunkIndex(index)) != chunks_[index].range) return false;
  }
  return true;
}

bool BroadcastHalf::IsSame(ChunkIndex index, Epoch made_in, const CheckedChunk& result) const {
  const Chunk& chunk = chunks_[index.value()];
  const EncodedChunk& held = chunk.result.encoded();
  const EncodedChunk& came = result.encoded();
  if (chunk.made_in != made_in || held.weight != came.weight || held.frames != came.frames) return false;
  return std::equal(held.payload.begin(), held.payload.end(), came.payload.begin(), came.payload.end(),
                    [](const Buffer& one, const Buffer& other) {
                      return one.data() == other.data() || one.AsBytes().bytes() == other.AsBytes().bytes();
                    });
}

void BroadcastHalf::Take(StepContext& step, RoundKind kind, ChunkIndex index, Epoch made_in, CheckedChunk result) {
  Chunk& chunk = chunks_[index.value()];
  BANYAN_CHECK(!chunk.is_taken);
  chunk.is_taken = true;
  chunk.made_in = made_in;
  chunk.kind = kind;
  chunk.result = std::move(result);
  Read(step, index);
}

bool BroadcastHalf::IsGradient(const Chunk& chunk) {
  return chunk.kind != RoundKind::kBroadcast && chunk.kind != RoundKind::kAbstention;
}

void BroadcastHalf::Read(StepContext& step, ChunkIndex index) {
  Chunk& chunk = chunks_[index.value()];
  const bool is_unseen = memory_->lacks_replica();
  std::optional<OptimizerStep> optimizer;
  if (IsGradient(chunk) && !is_unseen) optimizer = memory_->Step(chunk.range);
  auto work =
      std::make_unique<ReadResult>(chunk.result, std::move(optimizer), memory_->sum_type(), computations_->device());
  computations_->Start<ReadResult>(
      step, std::move(work),
      [owner = owner_, key = key_, round = round_, index, is_unseen](StepContext& later, ReadResult& done) {
        BroadcastHalf* half = owner->FindBroadcastHalf(later, key, round);
        if (half == nullptr) return;
        is_unseen ? half->OnReadUnseen(later, index) : half->OnRead(later, index, done);
      });
}

void BroadcastHalf::OnReadUnseen(StepContext& step, ChunkIndex index) {
  if (!memory_->lacks_replica()) return Read(step, index);
  chunks_[index.value()].is_unseen = true;
  if (--unread_ == 0) owner_->OnAllRead(step, key_, round_, 0);
}

void BroadcastHalf::ReadAnew(StepContext& step) {
  for (uint32_t index = 0; index < chunks_.size(); ++index) {
    if (!std::exchange(chunks_[index].is_unseen, false)) continue;
    ++unread_;
    Read(step, ChunkIndex(index));
  }
}

void BroadcastHalf::OnRead(StepContext& step, ChunkIndex index, const ReadResult& done) {
  Chunk& chunk = chunks_[index.value()];
  chunk.values = done.values();
  chunk.hash = done.hash();
  if (memory_->has_optimizer() && !IsGradient(chunk)) {
    Buffer replica = memory_->Replica(chunk.range);
    // Values that everybody agrees on replace the parameters. Where nobody has spoken they stay.
    if (chunk.kind == RoundKind::kBroadcast) DecodeChunk(done.result(), replica.mutable_floats());
    if (chunk.kind == RoundKind::kAbstention) chunk.values = Buffer::CopyOf(replica.floats());
  }
  owner_->OnRead(step, key_, round_, chunk.range.first_element, chunk.values);
  if (--unread_ > 0) return;
  if (std::any_of(chunks_.begin(), chunks_.end(), IsGradient)) memory_->EndStep();
  owner_->OnAllRead(step, key_, round_, Hash());
}

uint64_t BroadcastHalf::Hash() const {
  uint64_t hash = 0;
  for (const Chunk& chunk : chunks_) hash = CombineHashes(hash, chunk.hash);
  // 0 says that there is none.
  return hash == 0 ? 1 : hash;
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
