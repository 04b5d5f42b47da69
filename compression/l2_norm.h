// The Euclidean length of a float array. Pure function.
#ifndef BANYAN_COMPRESSION_L2_NORM_H_
#define BANYAN_COMPRESSION_L2_NORM_H_

#include "absl/types/span.h"

namespace banyan {

// sqrt(sum of squares), summed in float64: no float32 overflows or is lost, not-a-numbers give not-a-number. The order
// of the additions is fixed, 16 sums of every 16th element that are then added pairwise, hence the same bits on every
// processor.
double L2Norm(absl::Span<const float> values);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_L2_NORM_H_
