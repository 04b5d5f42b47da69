// Element-wise arithmetic on float arrays, vectorised for the processor that it runs on. Every path gives the same
// bits: the operations are IEEE 754's, one rounding each. Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_VECTOR_MATH_H_
#define BANYAN_COMPRESSION_KERNELS_VECTOR_MATH_H_

#include <cstdint>

#include "absl/types/span.h"

namespace banyan {

// sums[i] += values[i], the values as the machine's float32 at any alignment. REQUIRES: four bytes per sum; the arrays
// do not overlap.
void AddBytesInto(absl::Span<float> sums, absl::Span<const uint8_t> values);

// sums[i] = one[i] + other[i], read and required as above.
void AddBytes(absl::Span<float> sums, absl::Span<const uint8_t> one, absl::Span<const uint8_t> other);

// values[i] *= factor.
void Scale(absl::Span<float> values, float factor);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_VECTOR_MATH_H_
