#include "node/rounds/tensor_memory.h"

#include "core/check.h"

namespace banyan {

std::optional<OptimizerStep> TensorMemory::Step(const ElementRange& range) {
  if (!has_optimizer()) return std::nullopt;
  return OptimizerStep{aggregation_, Replica(range), optimizer_.Slices(range.first_element, range.elements)};
}

Buffer TensorMemory::Weights(const ElementRange& range) {
  if (has_optimizer()) return Replica(range);
  return weights_.empty() ? Buffer() : Part(weights_, range);
}

void TensorMemory::SetWeights(Buffer weights) {
  BANYAN_CHECK(weights.elements() == elements_ && !has_optimizer());
  weights_ = std::move(weights);
}

void TensorMemory::MoveWeights(const void* registered, Buffer copy) {
  BANYAN_CHECK(copy.elements() == elements_);
  // Others may have come meanwhile; not in the same memory, which is still held.
  if (weights_.data() == registered) weights_ = std::move(copy);
}

Buffer TensorMemory::Residual(const ElementRange& range) {
  CheckRange(range);
  return residual_.Read(range);
}

void TensorMemory::CommitResidual(const ElementRange& range, Buffer left) {
  CheckRange(range);
  residual_.Commit(range, std::move(left));
}

TensorMemory::Sizes TensorMemory::sizes() const {
  return {.replica_bytes = replica_.size_bytes(),
          .residual_bytes = residual_.size_bytes(),
          .weights_bytes = weights_.size_bytes(),
          .optimizer_bytes = optimizer_.size_bytes()};
}

void TensorMemory::CheckRange(const ElementRange& range) const {
  BANYAN_CHECK(range.first_element >= 0 && range.elements <= elements_ - range.first_element);
}

Buffer TensorMemory::Part(Buffer& whole, const ElementRange& range) {
  CheckRange(range);
  if (whole.empty()) whole = Buffer::Allocate(elements_);
  return whole.Slice(range.first_element, range.elements);
}

}  // namespace banyan
