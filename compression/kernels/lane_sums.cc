#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "compression/kernels/lane_accumulator.h"
#include "compression/kernels/vector_math.h"

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

struct Continuation {
  template <int kWidth>
  struct Body {
    BANYAN_KERNEL_BODY static void Run(const float* values, int64_t count, double* lanes) {
      LaneAccumulator<kWidth> accumulator(lanes);
      accumulator.template AddAll<MagnitudeTerm>(values, count);
      accumulator.CopyTo(lanes);
    }
  };
};

}  // namespace

double L2Norm(absl::Span<const float> values) { return std::sqrt(SumOfSquares(values)); }

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

void MagnitudeSum::Add(absl::Span<const float> values, KernelPath path) {
  if (next_lane_ > 0) {
    // Fills up the sixteen that the last part began. The zeros before and behind change no sum.
    const auto head = static_cast<size_t>(std::min<int64_t>(kLanes - next_lane_, static_cast<int64_t>(values.size())));
    float lanes[kLanes] = {};
    std::copy_n(values.begin(), head, lanes + next_lane_);
    RunVectorKernel<Continuation::Body>(path, static_cast<const float*>(lanes), kLanes, lanes_);
    next_lane_ = (next_lane_ + static_cast<int64_t>(head)) % kLanes;
    values.remove_prefix(head);
  }
  if (values.empty()) return;
  RunVectorKernel<Continuation::Body>(path, values.data(), static_cast<int64_t>(values.size()), lanes_);
  next_lane_ = static_cast<int64_t>(values.size()) % kLanes;
}

double MagnitudeSum::Total() const {
  double lanes[kLanes];
  std::memcpy(lanes, lanes_, sizeof(lanes));
  return TotalOfLanes(lanes);
}

}  // namespace banyan
