#include "compression/kernels/l2_norm.h"

#include <cmath>

#include "compression/kernels/lane_sums.h"

namespace banyan {

double L2Norm(absl::Span<const float> values) { return std::sqrt(SumOfSquares(values)); }

}  // namespace banyan
