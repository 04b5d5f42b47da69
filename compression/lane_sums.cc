#include "compression/lane_sums.h"

#include <cstdint>
#include <cstring>

#include "compression/float_lanes.h"

namespace banyan {
namespace {

typedef float HalfLanes __attribute__((vector_size(32)));
typedef float HalfLanesInMemory __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint32_t HalfWords __attribute__((vector_size(32)));
typedef double DoubleLanes __attribute__((vector_size(64)));

struct Magnitude {
  BANYAN_KERNEL_BODY static DoubleLanes Of(HalfLanes values) {
    const HalfWords magnitudes = reinterpret_cast<HalfWords>(values) & ~kSignBit;
    return __builtin_convertvector(reinterpret_cast<HalfLanes>(magnitudes), DoubleLanes);
  }
};

struct Square {
  BANYAN_KERNEL_BODY static DoubleLanes Of(HalfLanes values) {
    const DoubleLanes exact = __builtin_convertvector(values, DoubleLanes);
    return exact * exact;
  }
};

BANYAN_KERNEL_BODY HalfLanes LoadHalf(const float* from) { return *reinterpret_cast<const HalfLanesInMemory*>(from); }

template <typename Term>
struct Sum {
  BANYAN_KERNEL_BODY static void Run(const float* values, int64_t count, double* sum) {
    DoubleLanes low = {};
    DoubleLanes high = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      low += Term::Of(LoadHalf(values + i));
      high += Term::Of(LoadHalf(values + i + kLanes / 2));
    }
    if (i < count) {
      float rest[kLanes] = {};
      std::memcpy(rest, values + i, (count - i) * sizeof(float));
      low += Term::Of(LoadHalf(rest));
      high += Term::Of(LoadHalf(rest + kLanes / 2));
    }
    const DoubleLanes eight = low + high;
    const double four[] = {eight[0] + eight[4], eight[1] + eight[5], eight[2] + eight[6], eight[3] + eight[7]};
    *sum = (four[0] + four[2]) + (four[1] + four[3]);
  }
};

}  // namespace

double SumOfMagnitudes(absl::Span<const float> values, KernelPath path) {
  double sum = 0;
  RunKernel<Sum<Magnitude>>(path, values.data(), static_cast<int64_t>(values.size()), &sum);
  return sum;
}

double SumOfSquares(absl::Span<const float> values, KernelPath path) {
  double sum = 0;
  RunKernel<Sum<Square>>(path, values.data(), static_cast<int64_t>(values.size()), &sum);
  return sum;
}

}  // namespace banyan
