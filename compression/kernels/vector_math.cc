#include "compression/kernels/vector_math.h"

#include "compression/kernels/kernel_body.h"
#include "core/check.h"

namespace banyan {
namespace {

// Socket frames lie anywhere in memory: the compiler may assume neither alignment nor that a float was stored there.
typedef float UnalignedFloat __attribute__((aligned(1), may_alias));

BANYAN_VECTOR_CLONES void Add(float* __restrict sums, const UnalignedFloat* __restrict values, size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] += values[i];
}

BANYAN_VECTOR_CLONES void AddTwo(float* __restrict sums, const UnalignedFloat* __restrict one,
                                 const UnalignedFloat* __restrict other, size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] = one[i] + other[i];
}

BANYAN_VECTOR_CLONES void Multiply(float* values, float factor, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] *= factor;
}

}  // namespace

void AddBytesInto(absl::Span<float> sums, absl::Span<const uint8_t> values) {
  BANYAN_CHECK(sums.size() * sizeof(float) == values.size());
  Add(sums.data(), reinterpret_cast<const UnalignedFloat*>(values.data()), sums.size());
}

void AddBytes(absl::Span<float> sums, absl::Span<const uint8_t> one, absl::Span<const uint8_t> other) {
  BANYAN_CHECK(sums.size() * sizeof(float) == one.size() && one.size() == other.size());
  AddTwo(sums.data(), reinterpret_cast<const UnalignedFloat*>(one.data()),
         reinterpret_cast<const UnalignedFloat*>(other.data()), sums.size());
}

void Scale(absl::Span<float> values, float factor) { Multiply(values.data(), factor, values.size()); }

}  // namespace banyan
