#include "compression/lane_sums.h"

#include <cstdint>

#include "compression/lane_accumulator.h"

namespace banyan {
namespace {

template <typename Term>
struct Summation {
  BANYAN_KERNEL_BODY static void Run(const float* values, int64_t count, double* sum) {
    LaneAccumulator accumulator;
    accumulator.AddAll<Term>(values, count);
    *sum = accumulator.Total();
  }
};

}  // namespace

double SumOfMagnitudes(absl::Span<const float> values, KernelPath path) {
  double sum = 0;
  RunKernel<Summation<LaneAccumulator::Magnitude>>(path, values.data(), static_cast<int64_t>(values.size()), &sum);
  return sum;
}

double SumOfSquares(absl::Span<const float> values, KernelPath path) {
  double sum = 0;
  RunKernel<Summation<LaneAccumulator::Square>>(path, values.data(), static_cast<int64_t>(values.size()), &sum);
  return sum;
}

}  // namespace banyan
