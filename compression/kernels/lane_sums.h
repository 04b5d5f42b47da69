// Sums over many floats in a fixed order, so that every path and device gets the same bits: in double, sixteen partial
// sums of which the l-th takes the elements l, l+16, l+32 and so on; then the upper half is added to the lower until
// one is left. Not-a-number or infinite as soon as an element is. Pure functions; thread-safe.
#ifndef BANYAN_COMPRESSION_KERNELS_LANE_SUMS_H_
#define BANYAN_COMPRESSION_KERNELS_LANE_SUMS_H_

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

double SumOfMagnitudes(absl::Span<const float> values, KernelPath path = BestKernelPath());

double SumOfSquares(absl::Span<const float> values, KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_LANE_SUMS_H_
