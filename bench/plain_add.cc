#include "bench/plain_add.h"

#include <cstddef>

#include "compression/kernels/kernel_body.h"

namespace banyan {
namespace {

BANYAN_VECTOR_CLONES void Add(float* __restrict sums, const float* __restrict values, size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] += values[i];
}

}  // namespace

void PlainAdd(absl::Span<float> sums, absl::Span<const float> values) { Add(sums.data(), values.data(), sums.size()); }

}  // namespace banyan
