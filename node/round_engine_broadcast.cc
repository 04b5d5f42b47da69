// The way down: the root's one result goes to every member as the same bytes, and to this node's workers.
#include <memory>
#include <utility>

#include "core/check.h"
#include "node/round_engine.h"

namespace banyan {
namespace {

using Verdict = PeerNetwork::Verdict;

// Order matters: the same chunks in another order are another result.
uint64_t CombineHashes(uint64_t so_far, uint64_t next) {
  const uint64_t mixed = (so_far ^ next) * 0x9fb21c651e98df25ULL;
  return (mixed ^ (mixed >> 32)) + 0x9e3779b97f4a7c15ULL;
}

}  // namespace

Verdict RoundEngine::OnResult(StepContext& step, RoundState& state, ChunkMessage message, Payload payload) {
  const ChunkRef ref{message.id.key, message.id.round, message.id.chunk};
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  if (chunk.has_result) return Verdict::kTaken;
  if (!chunk.passed_up || chunk.encoding)
    return Refuse(step, message, "a result came before this node's contribution had left");
  if (message.kind != state.kind || message.frames.empty()) {
    return Refuse(step, message, "a result of another kind of round, or none at all");
  }
  absl::StatusOr<CheckedChunk> result =
      CheckChunk({std::move(message.frames), std::move(payload), message.weight}, chunk.range.elements);
  if (!result.ok()) return Refuse(step, message, std::string(result.status().message()));
  TakeResult(step, ref, state, *std::move(result));
  return Verdict::kTaken;
}

Buffer RoundEngine::ReplicaSlice(KeyId key, const ElementRange& range) {
  KeyState& of_key = KeyOf(key);
  if (of_key.replica.empty()) of_key.replica = Buffer::Allocate(book_->FindKey(key)->elements);
  return of_key.replica.Slice(range.first_element, range.elements);
}

std::optional<OptimizerStep> RoundEngine::StepOf(KeyId key, const ElementRange& range, RoundKind kind) {
  if (!HasOptimizer() || kind == RoundKind::kBroadcast) return std::nullopt;
  return OptimizerStep{config_.aggregation, ReplicaSlice(key, range),
                       KeyOf(key).optimizer.Slices(range.first_element, range.elements)};
}

void RoundEngine::TakeResult(StepContext& step, const ChunkRef& ref, RoundState& state, CheckedChunk result) {
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  chunk.has_result = true;
  chunk.result = result;
  for (NodeId child : TreeOf(state, chunk).broadcast_children) {
    SendTo(step, ref, state, Half::kBroadcast, child, result);
  }
  auto work = std::make_unique<ReadResult>(std::move(result), StepOf(ref.key, chunk.range, *state.kind));
  computations_->Start<ReadResult>(step, std::move(work),
                                   [this, ref](StepContext& later, ReadResult& done) { OnRead(later, ref, done); });
}

void RoundEngine::OnRead(StepContext& step, const ChunkRef& ref, ReadResult& done) {
  RoundState* state = FindRound(ref.key, ref.round);
  BANYAN_CHECK(state != nullptr);
  ChunkState& chunk = state->chunks[ref.chunk.value()];
  chunk.values = done.values();
  chunk.hash = done.hash();
  if (HasOptimizer() && *state->kind == RoundKind::kBroadcast) {
    // Values that everybody agrees on replace the parameters.
    Buffer replica = ReplicaSlice(ref.key, chunk.range);
    DecodeChunk(done.result(), replica.mutable_floats());
  }
  listener_->OnValues(step, ref.key, ref.round, chunk.range.first_element, chunk.values);
  if (--state->unread_results == 0) CompleteRound(step, ref.key, ref.round, *state);
}

void RoundEngine::CompleteRound(StepContext& step, KeyId key, Round round, RoundState& state) {
  state.complete = true;
  uint64_t hash = 0;
  for (const ChunkState& chunk : state.chunks) hash = CombineHashes(hash, chunk.hash);
  KeyState& of_key = KeyOf(key);
  if (*state.kind != RoundKind::kBroadcast) of_key.optimizer.EndStep();
  for (auto next = of_key.rounds.find(of_key.next_complete); next != of_key.rounds.end() && next->second.complete;
       next = of_key.rounds.find(of_key.next_complete)) {
    of_key.next_complete = of_key.next_complete.Next();
  }
  listener_->OnRoundComplete(step, key, round, hash);
  TryOpen(step, key);
}

}  // namespace banyan
