#include "sim/training/typed_values.h"

#include <algorithm>

#include "compression/element_types.h"
#include "core/tensor_view.h"

namespace banyan {
namespace {

template <typename T>
void CopyAs(absl::Span<const float> values, TensorView to) {
  const absl::Span<T> target = to.As<T>();
  std::transform(values.begin(), values.end(), target.begin(), [](float value) { return static_cast<T>(value); });
}

}  // namespace

Buffer InType(Buffer values, DataType type) {
  if (type == DataType::kFloat32) return values;
  Buffer typed = Buffer::AllocateForOverwrite(values.elements(), type);
  const TensorView to(typed.mutable_data(), typed.elements(), type);
  if (IsHalf(type)) CopyRounded(values, to);
  if (type == DataType::kFloat64) CopyAs<double>(values.floats(), to);
  if (type == DataType::kInt32) CopyAs<int32_t>(values.floats(), to);
  if (type == DataType::kInt64) CopyAs<int64_t>(values.floats(), to);
  return typed;
}

void WriteAsFloats(const Buffer& values, absl::Span<float> to) { DecodeChunk(PlainChunk(values, 1), to); }

}  // namespace banyan
