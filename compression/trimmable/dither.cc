#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compression/kernels/kernel_body.h"
#include "compression/trimmable/level_bits.h"
#include "core/check.h"

namespace banyan {
namespace {

BANYAN_KERNEL_BODY float DitherAt(RandomKey key, size_t index, float bound) {
  constexpr float kStep = 0x1p-23f;
  const auto word = static_cast<int32_t>(RandomWord(key, static_cast<uint32_t>(index)) >> 8);
  return bound * (static_cast<float>(word) * kStep - 1.0f);
}

BANYAN_VECTOR_CLONES void Add(const float* __restrict values, RandomKey key, float bound, float* __restrict dithered,
                              size_t count) {
  for (size_t i = 0; i < count; ++i) {
    // In this order a not-a-number stays one.
    const float low = values[i] < -bound ? -bound : values[i];
    const float cut = low > bound ? bound : low;
    dithered[i] = cut + DitherAt(key, i, bound);
  }
}

BANYAN_VECTOR_CLONES void Subtract(RandomKey key, float bound, float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] -= DitherAt(key, i, bound);
}

}  // namespace

void AddDither(absl::Span<const float> values, RandomKey key, float bound, absl::Span<float> dithered) {
  BANYAN_CHECK(values.size() == dithered.size());
  Add(values.data(), key, bound, dithered.data(), values.size());
}

void SubtractDither(RandomKey key, float bound, absl::Span<float> values) {
  Subtract(key, bound, values.data(), values.size());
}

}  // namespace banyan
