#include "compression/kernels/lane_sums.h"

#include <cstdint>

#include "compression/kernels/lane_accumulator.h"

namespace banyan {
namespace {

template <typename Term>
struct Summation {
  template <int kWidth>
  struct Body {
    BANYAN_KERNEL_BODY static void Run(const float* values, int64_t count, double* sum) {
      LaneAccumulator<kWidth> accumulator;
      accumulator.template AddAll<Term>(values, count);
      *sum = accumulator.Total();
    }
  };
};

}  // namespace

double SumOfMagnitudes(absl::Span<const float> values, KernelPath path) {
  double sum = 0;
  RunVectorKernel<Summation<MagnitudeTerm>::Body>(path, values.data(), static_cast<int64_t>(values.size()), &sum);
  return sum;
}

double SumOfSquares(absl::Span<const float> values, KernelPath path) {
  double sum = 0;
  RunVectorKernel<Summation<SquareTerm>::Body>(path, values.data(), static_cast<int64_t>(values.size()), &sum);
  return sum;
}

}  // namespace banyan
