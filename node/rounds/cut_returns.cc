#include "node/rounds/cut_returns.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "compression/encoded_chunk.h"
#include "core/check.h"
#include "node/rounds/chunk_computations.h"

namespace banyan {

void CutReturns::OnResult(StepContext& step, KeyId key, Round round, ChunkIndex chunk, Epoch made_in,
                          std::vector<Cut> cuts) {
  RoundState& state = *keys_->at(key).rounds.Find(round);
  const std::optional<CheckedChunk> sent = state.sent.Take(chunk, made_in);
  const auto own = std::find_if(cuts.begin(), cuts.end(), [this](const Cut& cut) { return cut.node == self_; });
  const uint32_t frames = own == cuts.end() ? 0 : own->frames;
  if (!cuts.empty()) state.cuts.insert_or_assign(chunk, std::move(cuts));
  if (!sent.has_value()) return;
  const std::optional<NodeId> parent = state.attempt->PlaceOf(chunk).reduce_parent;
  if (parent.has_value() && !sent->empty()) {
    const size_t taken = sent->encoded().frames.size() - std::min<size_t>(frames, sent->encoded().frames.size());
    encodings_->ObserveUplink(*parent, sent->payload_bytes(), CutChunk(*sent, taken).payload_bytes());
  }
  if (frames > 0 && script_ != nullptr) script_->OnCut({key, round, chunk, Half::kReduce}, frames);
  if (frames > 0) Return(step, key, round, state.attempt->RangeOf(chunk), *sent, frames);
}

void CutReturns::Return(StepContext& step, KeyId key, Round round, const ElementRange& range, const CheckedChunk& sent,
                        uint32_t frames) {
  ++keys_->at(key).rounds.Find(round)->returning;
  computations_->Start<CutRemainder>(step, std::make_unique<CutRemainder>(sent, frames),
                                     [this, key, round, range](StepContext& later, CutRemainder& done) {
                                       OnReturned(later, key, round, range, done.left());
                                     });
}

void CutReturns::OnReturned(StepContext& step, KeyId key, Round round, const ElementRange& range, const Buffer& left) {
  const auto known = keys_->find(key);
  if (known == keys_->end()) return;
  known->second.memory.AddToResidual(range, left);
  // It may have been closed by an epoch's plan meanwhile.
  RoundState* state = known->second.rounds.Find(round);
  if (state == nullptr) return;
  BANYAN_CHECK(state->returning > 0);
  if (--state->returning == 0) owner_->OnCutsReturned(step, key, round);
}

}  // namespace banyan
