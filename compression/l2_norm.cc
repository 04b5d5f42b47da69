#include "compression/l2_norm.h"

#include <cmath>
#include <cstdint>

#include "compression/vector_clones.h"

namespace banyan {
namespace {

constexpr int kLanes = 16;

BANYAN_VECTOR_CLONES void AddSquares(const float* values, int64_t count, double* sums) {
  double lanes[kLanes] = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) sums[lane] = lanes[lane];
}

}  // namespace

double L2Norm(absl::Span<const float> values) {
  const int64_t count = values.size();
  const int64_t whole = count - count % kLanes;
  double sums[kLanes];
  AddSquares(values.data(), whole, sums);
  for (int64_t i = whole; i < count; ++i) sums[i - whole] += static_cast<double>(values[i]) * values[i];
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return std::sqrt(sums[0]);
}

}  // namespace banyan
