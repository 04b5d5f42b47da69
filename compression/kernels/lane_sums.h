// Sums over many floats in a fixed order, so that every path and device gets the same bits: in double, sixteen partial
// sums of which the l-th takes the elements l, l+16, l+32 and so on; then the upper half is added to the lower until
// one is left. Not-a-number or infinite as soon as an element is. Pure functions; thread-safe.
#ifndef BANYAN_COMPRESSION_KERNELS_LANE_SUMS_H_
#define BANYAN_COMPRESSION_KERNELS_LANE_SUMS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_body.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_LANE_SUMS_H_
