// The partial sums of vector_math.h, for bodies of kernels that do something else with the same elements.
#ifndef BANYAN_COMPRESSION_KERNELS_LANE_ACCUMULATOR_H_
#define BANYAN_COMPRESSION_KERNELS_LANE_ACCUMULATOR_H_

#include <cstdint>
#include <cstring>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/vectors.h"

namespace banyan {

struct MagnitudeTerm {
  template <typename V>
  BANYAN_KERNEL_BODY static typename V::Doubles Of(typename V::HalfFloats values) {
    const typename V::HalfWords magnitudes = reinterpret_cast<typename V::HalfWords>(values) & ~kSignBit;
    return __builtin_convertvector(reinterpret_cast<typename V::HalfFloats>(magnitudes), typename V::Doubles);
  }
};

struct SquareTerm {
  template <typename V>
  BANYAN_KERNEL_BODY static typename V::Doubles Of(typename V::HalfFloats values) {
    const typename V::Doubles exact = __builtin_convertvector(values, typename V::Doubles);
    return exact * exact;
  }
};

template <int kWidth>
class LaneAccumulator {
 public:
  BANYAN_KERNEL_BODY LaneAccumulator() = default;
  // Goes on from kLanes partial sums.
  BANYAN_KERNEL_BODY explicit LaneAccumulator(const double* lanes) { std::memcpy(lanes_, lanes, sizeof(lanes_)); }

  // The terms of the sixteen elements from `values` on.
  template <typename Term>
  BANYAN_KERNEL_BODY void Add(const float* values) {
#pragma GCC unroll 8
    for (int part = 0; part < kDoubleParts; ++part) {
      const float* const from = values + part * kDoubles;
      lanes_[part] += Term::template Of<V>(V::LoadHalf(from));
    }
  }

  // The terms of all.
  template <typename Term>
  BANYAN_KERNEL_BODY void AddAll(const float* values, int64_t count) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) Add<Term>(values + i);
    if (i == count) return;
    float rest[kLanes] = {};
    std::memcpy(rest, values + i, (count - i) * sizeof(float));
    Add<Term>(rest);
  }

  BANYAN_KERNEL_BODY void CopyTo(double* lanes) const { std::memcpy(lanes, lanes_, sizeof(lanes_)); }

  BANYAN_KERNEL_BODY double Total() const {
    double lanes[kLanes];
    CopyTo(lanes);
    return TotalOfLanes(lanes);
  }

 private:
  using V = Vectors<kWidth>;

  static constexpr int kDoubles = kWidth / 2;
  static constexpr int kDoubleParts = static_cast<int>(kLanes) / kDoubles;

  typename V::Doubles lanes_[kDoubleParts] = {};
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_LANE_ACCUMULATOR_H_
