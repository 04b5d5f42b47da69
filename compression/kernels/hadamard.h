// The randomized Hadamard transform of rows of a power of two elements, vectorised for the processor that it runs on;
// every path gives the same bits. It multiplies each element by a random sign and the row by the Hadamard matrix of
// Sylvester's order, entries 1 and -1: n times its own inverse, and sqrt(n) times a rotation. Whatever the row was, the
// result looks like independent normal numbers (Ailon and Chazelle, "The Fast Johnson-Lindenstrauss Transform", 2009).
//
// The butterflies go over the strides 1, 2, 4 and so on to n/2, which fixes every rounding. The sign of element i is
// bit (i / 16) mod 32 of RandomWord(key, i / 512 * 16 + i mod 16). A set bit is a minus. Pure functions; thread-safe on
// distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_HADAMARD_H_
#define BANYAN_COMPRESSION_KERNELS_HADAMARD_H_

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"
#include "compression/kernels/random_bits.h"

namespace banyan {

// row = H D values, with zeros for the values that the row lacks. REQUIRES: row.size() is a power of two and at least
// values.size().
void FlipAndTransform(absl::Span<const float> values, RandomKey key, absl::Span<float> row,
                      KernelPath path = BestKernelPath());

// row = H row. REQUIRES: row.size() is a power of two.
void Transform(absl::Span<float> row, KernelPath path = BestKernelPath());

// values = scale D row, of as many elements as `values` has. REQUIRES: at most row.size().
void FlipInto(absl::Span<const float> row, RandomKey key, float scale, absl::Span<float> values,
              KernelPath path = BestKernelPath());

// sums += scale D row.
void FlipAddInto(absl::Span<const float> row, RandomKey key, float scale, absl::Span<float> sums,
                 KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_HADAMARD_H_
