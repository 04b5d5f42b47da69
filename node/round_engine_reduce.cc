// The way up: contributions of children and of this node become one sum, for the parent or for the root's result.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "node/round_engine.h"

namespace banyan {

using Verdict = PeerNetwork::Verdict;

bool RoundEngine::AgreesOnKind(StepContext& step, const ChunkRef& ref, RoundState& state, RoundKind kind,
                               NodeId said_by) {
  if (!state.kind.has_value()) state.kind = kind;
  if (*state.kind == kind) return true;
  listener_->OnRoundBroken(step, ref.key, ref.round,
                           absl::StrCat("members disagree: a ", NameOf(*state.kind), " for one, a ", NameOf(kind),
                                        " for ", network_->NameOf(said_by)));
  return false;
}

Verdict RoundEngine::OnContribution(StepContext& step, RoundState& state, ChunkMessage message, Payload payload) {
  const ChunkRef ref{message.id.key, message.id.round, message.id.chunk};
  const NodeId source = message.route.source();
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  if (chunk.children_counted.count(source) > 0) return Verdict::kTaken;
  // What cannot be decoded must not be counted: the sum would miss it and nobody would know.
  absl::StatusOr<CheckedChunk> input =
      CheckChunk({std::move(message.frames), std::move(payload), message.weight}, chunk.range.elements);
  if (!input.ok()) return Refuse(step, message, std::string(input.status().message()));
  if (!AgreesOnKind(step, ref, state, message.kind, source)) return Verdict::kRefused;
  chunk.children_counted.insert(source);
  chunk.result_ratio = std::min(chunk.result_ratio, message.result_ratio);
  Count(step, ref, state, *std::move(input));
  return Verdict::kTaken;
}

void RoundEngine::ContributeChunk(StepContext& step, const ChunkRef& ref, RoundState& state) {
  if (!AgreesOnKind(step, ref, state, state.contribution->kind, self_)) return;
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  chunk.own_counted = true;
  CheckedChunk own;
  if (!state.contribution->values.empty()) {
    own = EncodeChunk({.codec = CodecId::kFp32},
                      state.contribution->values.Slice(chunk.range.first_element, chunk.range.elements),
                      state.contribution->weight);
  }
  Count(step, ref, state, std::move(own));
}

void RoundEngine::Count(StepContext& step, const ChunkRef& ref, RoundState& state, CheckedChunk input) {
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  chunk.weight += input.weight();
  if (!input.empty()) {
    if (*state.kind != RoundKind::kBroadcast) {
      chunk.to_add.push_back(std::move(input));
    } else if (chunk.sole.empty()) {
      chunk.sole = std::move(input);
    } else {
      return listener_->OnRoundBroken(step, ref.key, ref.round, "two members sent values for a broadcast");
    }
  }
  Advance(step, ref, state);
}

void RoundEngine::Advance(StepContext& step, const ChunkRef& ref, RoundState& state) {
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  if (chunk.adding || chunk.passed_up) return;
  const TreeSlice& tree = TreeOf(state, chunk);
  const bool all_counted = chunk.own_counted && chunk.children_counted.size() == tree.reduce_children.size();
  const bool is_leaf = tree.reduce_children.empty() && tree.reduce_parent.has_value();
  const bool passes_as_is = is_leaf && !Compresses(ref, state);
  if (!chunk.to_add.empty() && !passes_as_is) return StartAdding(step, ref, chunk);
  if (!all_counted) return;
  chunk.passed_up = true;
  if (tree.reduce_parent.has_value()) return PassUp(step, ref, state);
  FinishSum(step, ref, state);
}

void RoundEngine::StartAdding(StepContext& step, const ChunkRef& ref, ChunkState& chunk) {
  chunk.adding = true;
  auto work = std::make_unique<AccumulateChunk>(std::move(chunk.sum), chunk.sum_is_fresh, std::move(chunk.to_add),
                                                chunk.range.elements);
  chunk.sum = Buffer();
  chunk.to_add.clear();
  computations_->Start<AccumulateChunk>(
      step, std::move(work), [this, ref](StepContext& later, AccumulateChunk& done) { OnAdded(later, ref, done); });
}

void RoundEngine::OnAdded(StepContext& step, const ChunkRef& ref, AccumulateChunk& done) {
  RoundState* state = FindRound(ref.key, ref.round);
  BANYAN_CHECK(state != nullptr);
  ChunkState& chunk = state->chunks[ref.chunk.value()];
  chunk.adding = false;
  chunk.sum = done.accumulator();
  chunk.sum_is_fresh = false;
  Advance(step, ref, *state);
}

void RoundEngine::PassUp(StepContext& step, const ChunkRef& ref, RoundState& state) {
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  CheckedChunk up;
  if (!chunk.sole.empty()) {
    up = std::move(chunk.sole);
  } else if (!chunk.to_add.empty()) {
    // A leaf sends its own contribution as it is.
    up = std::move(chunk.to_add.front());
    chunk.to_add.clear();
  } else if (!chunk.sum.empty() && Compresses(ref, state)) {
    return StartCompressing(step, ref, state);
  } else if (!chunk.sum.empty()) {
    up = EncodeChunk({.codec = CodecId::kFp32}, chunk.sum, chunk.weight);
    // From here on the delivery tracker keeps it.
    chunk.sum = Buffer();
  }
  SendTo(step, ref, state, Half::kReduce, *TreeOf(state, chunk).reduce_parent, up);
}

double RoundEngine::ResultRatio(const ChunkRef& ref, const RoundState& state) {
  if (*state.kind != RoundKind::kAggregate) return 1;
  const ChunkState& chunk = state.chunks[ref.chunk.value()];
  const double own = encodings_.ResultRatio(*book_->FindKey(ref.key), TreeOf(state, chunk).broadcast_children);
  return std::min(own, chunk.result_ratio);
}

bool RoundEngine::Compresses(const ChunkRef& ref, const RoundState& state) {
  const KeySlice& key = *book_->FindKey(ref.key);
  switch (*state.kind) {
    case RoundKind::kAggregate:
      return encodings_.Compresses(key);
    case RoundKind::kBroadcast:
      return false;
    case RoundKind::kFlush:
      break;
  }
  return encodings_.KeepsResidual(key);
}

Buffer RoundEngine::ResidualSlice(KeyId key, const ElementRange& range) {
  const KeySlice& row = *book_->FindKey(key);
  if (!encodings_.KeepsResidual(row)) return Buffer();
  KeyState& of_key = KeyOf(key);
  if (of_key.residual.empty()) of_key.residual = Buffer::Allocate(row.elements);
  return of_key.residual.Slice(range.first_element, range.elements);
}

void RoundEngine::StartCompressing(StepContext& step, const ChunkRef& ref, RoundState& state) {
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  const NodeId parent = *TreeOf(state, chunk).reduce_parent;
  Encoding encoding;
  if (*state.kind == RoundKind::kAggregate) {
    encoding = encodings_.ForUplink(*book_->FindKey(ref.key), ref.round, ref.chunk, parent);
  }
  Buffer weights = encoding.netsense.prune_factor > 0 ? WeightsSlice(step, ref.key, chunk.range) : Buffer();
  auto work = std::make_unique<CompressChunk>(std::move(chunk.sum), chunk.weight, encoding,
                                              ResidualSlice(ref.key, chunk.range), std::move(weights));
  chunk.sum = Buffer();
  chunk.encoding = true;
  computations_->Start<CompressChunk>(step, std::move(work), [this, ref](StepContext& later, CompressChunk& done) {
    RoundState* compressed = FindRound(ref.key, ref.round);
    BANYAN_CHECK(compressed != nullptr);
    ChunkState& encoded = compressed->chunks[ref.chunk.value()];
    encoded.encoding = false;
    const NodeId to = *TreeOf(*compressed, encoded).reduce_parent;
    SendTo(later, ref, *compressed, Half::kReduce, to, done.encoded());
  });
}

void RoundEngine::FinishSum(StepContext& step, const ChunkRef& ref, RoundState& state) {
  ChunkState& chunk = state.chunks[ref.chunk.value()];
  if (*state.kind == RoundKind::kBroadcast) {
    if (chunk.sole.empty()) return listener_->OnRoundBroken(step, ref.key, ref.round, "no member sent values for it");
    return TakeResult(step, ref, state, std::move(chunk.sole));
  }
  FinishChunk::Coding coding;
  // A result that nobody else gets stays as it is.
  if (chunk.weight > 0) {
    coding.residual = ResidualSlice(ref.key, chunk.range);
    if (*state.kind == RoundKind::kAggregate && !TreeOf(state, chunk).broadcast_children.empty()) {
      coding.encoding = encodings_.ForResult(*book_->FindKey(ref.key), ref.round, ref.chunk, ResultRatio(ref, state));
    }
  }
  auto work =
      std::make_unique<FinishChunk>(std::move(chunk.sum), chunk.weight, config_.aggregation.op, std::move(coding));
  chunk.sum = Buffer();
  computations_->Start<FinishChunk>(step, std::move(work), [this, ref](StepContext& later, FinishChunk& done) {
    RoundState* finished = FindRound(ref.key, ref.round);
    BANYAN_CHECK(finished != nullptr);
    TakeResult(later, ref, *finished, done.result());
  });
}

}  // namespace banyan
