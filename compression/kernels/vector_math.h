// Arithmetic on float arrays, vectorised for the processor that it runs on: element by element, sums of all, and values
// that are no finite numbers. Every path gives the same bits. Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_VECTOR_MATH_H_
#define BANYAN_COMPRESSION_KERNELS_VECTOR_MATH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_body.h"
#include "compression/kernels/kernel_path.h"
#include "core/tensor_view.h"

namespace banyan {

// ---- element by element: the operations are IEEE 754's, one rounding each ----

// sums[i] += values[i], the values as the machine's float32 at any alignment. REQUIRES: four bytes per sum; the arrays
// do not overlap.
void AddBytesInto(absl::Span<float> sums, absl::Span<const uint8_t> values);

// sums[i] = one[i] + other[i], read and required as above.
void AddBytes(absl::Span<float> sums, absl::Span<const uint8_t> one, absl::Span<const uint8_t> other);

// values[i] *= factor.
void Scale(absl::Span<float> values, float factor);

// ---- sums over many floats in a fixed order (lane_sums.cc) ----
//
// In double, sixteen partial sums of which the l-th takes the elements l, l+16, l+32 and so on; then the upper half is
// added to the lower until one is left. So every path and device gets the same bits. Not-a-number or infinite as soon
// as an element is.

double SumOfMagnitudes(absl::Span<const float> values, KernelPath path = BestKernelPath());

double SumOfSquares(absl::Span<const float> values, KernelPath path = BestKernelPath());

// Returns the Euclidean length, the root of SumOfSquares: no float32 overflows or is lost.
double L2Norm(absl::Span<const float> values);

// SumOfMagnitudes of what comes part by part: the bits depend on the elements alone, not on the cuts. Plain value.
class MagnitudeSum {
 public:
  void Add(absl::Span<const float> values, KernelPath path = BestKernelPath());
  double Total() const;

 private:
  double lanes_[kLanes] = {};
  int64_t next_lane_ = 0;  // of the next element
};

// ---- NaN and the infinities, and numbers that are large for a format (not_finite.cc) ----

// Returns how many of `values` are not finite: none of integers.
int64_t CountNotFinite(ConstTensorView values);

// Copies `from` to `to` and returns what CountNotFinite does, in one pass. REQUIRES: equal lengths and types, no
// overlap.
int64_t CopyCountingNotFinite(ConstTensorView from, TensorView to);

// Returns whether the magnitude of a finite value is at least `least`. REQUIRES: `least` is finite and above 0.
bool HasFiniteFrom(absl::Span<const float> values, float least);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_VECTOR_MATH_H_
