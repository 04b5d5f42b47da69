#include "node/rounds/tensor_memory.h"

#include <algorithm>
#include <cstring>

#include "compression/error_feedback.h"
#include "core/check.h"

namespace banyan {

int OptimizerState::Moments(AggregationOp op) {
  if (!IsOptimizer(op) || op == AggregationOp::kSgd) return 0;
  return op == AggregationOp::kAdam ? 2 : 1;
}

void OptimizerState::Restore(uint64_t steps, Buffer first_moment, Buffer second_moment) {
  steps_ = steps;
  first_moment_ = std::move(first_moment);
  second_moment_ = std::move(second_moment);
}

OptimizerSlices OptimizerState::Slices(int64_t first_element, int64_t elements) {
  BANYAN_CHECK(first_element >= 0 && elements > 0 && elements <= elements_ - first_element);
  OptimizerSlices slices{.step = steps_ + 1, .first_moment = {}, .second_moment = {}};
  const int moments = Moments(op_);
  if (moments == 0) return slices;
  if (first_moment_.empty()) first_moment_ = Buffer::Allocate(elements_);
  slices.first_moment = first_moment_.Slice(first_element, elements);
  if (moments == 1) return slices;
  if (second_moment_.empty()) second_moment_ = Buffer::Allocate(elements_);
  slices.second_moment = second_moment_.Slice(first_element, elements);
  return slices;
}

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
  if (registered == nullptr || weights_.data() == registered) weights_ = std::move(copy);
}

Buffer TensorMemory::Residual(const ElementRange& range) {
  CheckRange(range);
  return residual_.Read(range);
}

void TensorMemory::CommitResidual(const ElementRange& range, Buffer left) {
  CheckRange(range);
  residual_.Commit(range, std::move(left));
}

void TensorMemory::AddToResidual(const ElementRange& range, const Buffer& cut) {
  Buffer left = Buffer::CopyOf(Residual(range).floats());
  AddResidual(cut.floats(), left.mutable_floats());
  CommitResidual(range, std::move(left));
}

int64_t TensorMemory::image_bytes() const {
  const int64_t tensors = 1 + OptimizerState::Moments(aggregation_.op);
  return static_cast<int64_t>(sizeof(uint64_t)) + tensors * elements_ * SizeOf(DataType::kFloat32);
}

std::vector<TensorMemory::Section> TensorMemory::ImageSections() const {
  const int64_t tensor_bytes = elements_ * SizeOf(DataType::kFloat32);
  const int moments = OptimizerState::Moments(aggregation_.op);
  std::vector<Section> sections = {{nullptr, static_cast<int64_t>(sizeof(uint64_t))}, {replica_.data(), tensor_bytes}};
  if (moments > 0) sections.push_back({optimizer_.first_moment().data(), tensor_bytes});
  if (moments > 1) sections.push_back({optimizer_.second_moment().data(), tensor_bytes});
  return sections;
}

void TensorMemory::ReadImage(int64_t first_byte, absl::Span<uint8_t> to) const {
  BANYAN_CHECK(first_byte >= 0 && first_byte + static_cast<int64_t>(to.size()) <= image_bytes());
  const uint64_t steps = optimizer_.steps();
  std::vector<Section> sections = ImageSections();
  sections.front().data = &steps;
  for (const Section& section : sections) {
    const int64_t bytes = std::min(static_cast<int64_t>(to.size()), section.size_bytes - first_byte);
    if (bytes > 0) {
      const auto* from = static_cast<const uint8_t*>(section.data);
      if (from == nullptr) {
        std::memset(to.data(), 0, bytes);
      } else {
        std::memcpy(to.data(), from + first_byte, bytes);
      }
      to.remove_prefix(bytes);
    }
    first_byte = std::max<int64_t>(0, first_byte - section.size_bytes);
  }
}

void TensorMemory::TakeImage(absl::Span<const uint8_t> image) {
  BANYAN_CHECK(lacks_replica_ && static_cast<int64_t>(image.size()) == image_bytes());
  uint64_t steps = 0;
  std::memcpy(&steps, image.data(), sizeof(steps));
  image.remove_prefix(sizeof(steps));
  const auto take_tensor = [&] {
    Buffer tensor = Buffer::AllocateForOverwrite(elements_);
    std::memcpy(tensor.mutable_data(), image.data(), tensor.size_bytes());
    image.remove_prefix(tensor.size_bytes());
    return tensor;
  };
  replica_ = take_tensor();
  const int moments = OptimizerState::Moments(aggregation_.op);
  Buffer first = moments > 0 ? take_tensor() : Buffer();
  Buffer second = moments > 1 ? take_tensor() : Buffer();
  optimizer_.Restore(steps, std::move(first), std::move(second));
  lacks_replica_ = false;
}

TensorMemory::Sizes TensorMemory::sizes() const {
  return {.replica_bytes = replica_.size_bytes(),
          .residual_bytes = residual_.size_bytes() + voters_.size_bytes(),
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
