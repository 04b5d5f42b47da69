#include "runtime/local_updates/outer_tensor.h"

#include <algorithm>
#include <cstddef>

#include "compression/kernels/half_float.h"

namespace banyan {
namespace {

void Read(const TensorView& from, absl::Span<float> values) {
  const auto* const bytes = static_cast<const uint8_t*>(from.data());
  if (from.type() == DataType::kFloat16) return HalvesToFloats(bytes, values);
  if (from.type() == DataType::kBFloat16) return BrainFloatsToFloats(bytes, values);
  std::copy(from.floats().begin(), from.floats().end(), values.begin());
}

void Write(absl::Span<const float> values, const TensorView& to) {
  auto* const bytes = static_cast<uint8_t*>(to.data());
  if (to.type() == DataType::kFloat16) return FloatsToHalves(values, bytes);
  if (to.type() == DataType::kBFloat16) return FloatsToBrainFloats(values, bytes);
  std::copy(values.begin(), values.end(), to.floats().begin());
}

}  // namespace

OuterTensor::OuterTensor(TensorView model, bool has_momentum)
    : model_(model),
      parameters_(static_cast<size_t>(model.elements())),
      momentum_(has_momentum ? parameters_.size() : 0),
      gradient_(parameters_.size()),
      halves_(IsHalf(model.type()) ? parameters_.size() : 0) {
  Begin();
}

void OuterTensor::Begin() { Read(model_, absl::MakeSpan(parameters_)); }

TensorView OuterTensor::exchanged() {
  if (!IsHalf(model_.type())) return absl::MakeSpan(gradient_);
  return {halves_.data(), model_.elements(), model_.type()};
}

void OuterTensor::Compare(double weight) {
  Read(model_, absl::MakeSpan(gradient_));
  const auto factor = static_cast<float>(weight);
  for (size_t i = 0; i < gradient_.size(); ++i) gradient_[i] = (parameters_[i] - gradient_[i]) * factor;
  if (IsHalf(model_.type())) Write(gradient_, exchanged());
}

void OuterTensor::Move(const OuterStep& step, double mean_weight) {
  if (IsHalf(model_.type())) Read(exchanged(), absl::MakeSpan(gradient_));
  const auto share = static_cast<float>(mean_weight > 0 ? 1 / mean_weight : 0);
  for (float& each : gradient_) each *= share;
  const auto factor = static_cast<float>(step.momentum);
  for (size_t i = 0; i < momentum_.size(); ++i) {
    momentum_[i] = factor * momentum_[i] + gradient_[i];
    gradient_[i] += factor * momentum_[i];
  }
  const auto rate = static_cast<float>(step.learning_rate);
  for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i] -= rate * gradient_[i];
}

void OuterTensor::Load(double alpha) {
  if (alpha == 0) return Write(parameters_, model_);
  Read(model_, absl::MakeSpan(gradient_));
  const auto own = static_cast<float>(alpha);
  const auto others = static_cast<float>(1 - alpha);
  for (size_t i = 0; i < gradient_.size(); ++i) gradient_[i] = own * gradient_[i] + others * parameters_[i];
  Write(gradient_, model_);
}

}  // namespace banyan
