// The model's weights at this node, by which NetSenseML prunes: what workers register, or the replica.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "node/round_engine.h"

namespace banyan {

void RoundEngine::RegisterWeights(StepContext& step, KeyId key, Buffer weights) {
  const KeySlice& row = *book_->FindKey(key);
  BANYAN_CHECK(weights.elements() == row.elements);
  if (HasOptimizer() || !encodings_.Prunes(row)) return;
  // They count from now on; the worker's memory goes back once they are copied.
  KeyOf(key).weights = weights;
  const void* registered = weights.data();
  std::vector<CheckedChunk> inputs = {EncodeChunk({.codec = CodecId::kFp32}, weights, 1)};
  auto work = std::make_unique<AccumulateChunk>(Buffer(), true, std::move(inputs), row.elements);
  computations_->Start<AccumulateChunk>(step, std::move(work),
                                        [this, key, registered](StepContext&, AccumulateChunk& done) {
                                          Buffer& current = KeyOf(key).weights;
                                          // Others may have come meanwhile. Not in the same memory, which is still
                                          // held.
                                          if (current.data() == registered) current = done.accumulator();
                                        });
}

Buffer RoundEngine::WeightsSlice(StepContext& step, KeyId key, const ElementRange& range) {
  const KeySlice& row = *book_->FindKey(key);
  if (HasOptimizer()) return ReplicaSlice(key, range);
  KeyState& of_key = KeyOf(key);
  if (!of_key.weights.empty()) return of_key.weights.Slice(range.first_element, range.elements);
  if (!std::exchange(of_key.said_without_weights, true)) {
    step.Log(LogLevel::kInfo, absl::StrCat("key '", row.name,
                                           "': no worker has registered its weights, so that NetSenseML's pruning is "
                                           "skipped; see Session::RegisterWeights"));
  }
  return Buffer();
}

}  // namespace banyan
