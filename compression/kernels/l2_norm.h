// The Euclidean length of a float array. Pure function.
#ifndef BANYAN_COMPRESSION_KERNELS_L2_NORM_H_
#define BANYAN_COMPRESSION_KERNELS_L2_NORM_H_

#include "absl/types/span.h"

namespace banyan {

// sqrt(sum of squares), summed in float64 in the order of lane_sums.h: no float32 overflows or is lost, not-a-numbers
// give not-a-number, and every processor gives the same bits.
double L2Norm(absl::Span<const float> values);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_L2_NORM_H_
