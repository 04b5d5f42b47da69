#include "sim/training/training_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compression/element_types.h"
#include "core/digest.h"
#include "core/random.h"
#include "core/tensor_view.h"

namespace banyan {
namespace {

constexpr uint64_t kNotFiniteSeed = 0x0F1;
constexpr uint64_t kOddStep = 0x9E3779B97F4A7C15;
constexpr uint64_t kMixer = 0xD6E8FEB86659FD93;

template <typename T>
void CopyAs(absl::Span<const float> values, TensorView to) {
  const absl::Span<T> target = to.As<T>();
  std::transform(values.begin(), values.end(), target.begin(), [](float value) { return static_cast<T>(value); });
}

float Reduced(Reduction reduction, float one, float other) {
  switch (reduction) {
    case Reduction::kOfJob:
    case Reduction::kSum:
      return one + other;
    case Reduction::kMax:
      return std::max(one, other);
    case Reduction::kMin:
      return std::min(one, other);
    case Reduction::kProduct:
      return one * other;
  }
  return 0;
}

}  // namespace

Buffer InType(Buffer values, DataType type) {
  if (type == DataType::kFloat32) return values;
  Buffer typed = Buffer::AllocateForOverwrite(values.elements(), type);
  const TensorView to(typed.mutable_data(), typed.elements(), type);
  if (IsHalf(type)) CopyRounded(values, to);
  if (NumberTypeOf(type) == DataType::kFloat64) CopyAs<double>(values.floats(), to);
  if (NumberTypeOf(type) == DataType::kInt32) CopyAs<int32_t>(values.floats(), to);
  if (NumberTypeOf(type) == DataType::kInt64) CopyAs<int64_t>(values.floats(), to);
  return typed;
}

uint64_t HashOf(absl::Span<const float> values) {
  return DigestBytes({reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)}, 0);
}

std::string NameOf(WorkerName worker) {
  return absl::StrCat("worker ", worker.worker.value(), " of node ", worker.node.value());
}

void WriteAsFloats(const Buffer& values, absl::Span<float> to) { DecodeChunk(PlainChunk(values, 1), to); }

RoundKind TrainingPlan::KindOf(Round round) const {
  if (round != Round(0) && flush_every > 0 && round.value() % flush_every == 0) return RoundKind::kFlush;
  const bool broadcast = round == Round(0) || (broadcast_every > 0 && round.value() % broadcast_every == 0);
  return broadcast ? RoundKind::kBroadcast : RoundKind::kAggregate;
}

bool TrainingPlan::IsNotFinite(WorkerName worker, size_t tensor, Round round) const {
  if (not_finite_share == 0 || KindOf(round) != RoundKind::kAggregate) return false;
  Random random(Digest({seed, kNotFiniteSeed, worker.node.value(), worker.worker.value(), tensor, round.value()}));
  return random.Chance(not_finite_share);
}

void TrainingPlan::Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) const {
  if (source != nullptr) return source->Fill(worker, tensor, round, values);
  FillGradient(*this, worker, tensor, round, values);
}

void TrainingPlan::FillWeights(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) const {
  if (source != nullptr) return source->FillWeights(tensor, values);
  FillGradient(*this, worker, tensor, round.Next(), values);
}

void FillGradient(const TrainingPlan& plan, WorkerName worker, size_t tensor, Round round, absl::Span<float> values) {
  const bool is_half = IsHalf(plan.tensors[tensor].type);
  const bool is_product = ReductionOf(plan.tensors[tensor].type) == Reduction::kProduct;
  uint64_t state = plan.equal_gradients
                       ? Digest({plan.seed, tensor})
                       : Digest({plan.seed, worker.node.value(), worker.worker.value(), tensor, round.value()});
  for (float& value : values) {
    state += kOddStep;
    const uint64_t mixed = (state ^ (state >> 32)) * kMixer;
    value = static_cast<float>(static_cast<int>(mixed >> 53) - (kLargestGradient + 1));
    if (value < -kLargestGradient) value = kLargestGradient;
    if (is_half) value = static_cast<float>(static_cast<int>(value) % (kLargestHalf + 1));
    if (is_product) value = value < 0 ? -1.0f : 1.0f;
  }
}

std::vector<float> SumOfGradients(const TrainingPlan& plan, absl::Span<const WorkerName> workers, size_t tensor,
                                  Round round) {
  const auto elements = static_cast<size_t>(plan.tensors[tensor].elements);
  std::vector<float> sum(elements);
  std::vector<float> gradient(elements);
  FillGradient(plan, workers.front(), tensor, round, absl::MakeSpan(sum));
  for (const WorkerName& worker : workers.subspan(1)) {
    FillGradient(plan, worker, tensor, round, absl::MakeSpan(gradient));
    for (size_t i = 0; i < elements; ++i) {
      sum[i] = Reduced(ReductionOf(plan.tensors[tensor].type), sum[i], gradient[i]);
    }
  }
  return sum;
}

}  // namespace banyan
