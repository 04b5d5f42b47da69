// The partial sums of lane_sums.h, for bodies of kernels that do something else with the same elements.
#ifndef BANYAN_COMPRESSION_LANE_ACCUMULATOR_H_
#define BANYAN_COMPRESSION_LANE_ACCUMULATOR_H_

#include <cstdint>
#include <cstring>

#include "compression/float_lanes.h"

namespace banyan {

struct LaneAccumulator {
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

  // The terms of the sixteen elements from `values` on.
  template <typename Term>
  BANYAN_KERNEL_BODY void Add(const float* values) {
    low += Term::Of(*reinterpret_cast<const HalfLanesInMemory*>(values));
    high += Term::Of(*reinterpret_cast<const HalfLanesInMemory*>(values + kLanes / 2));
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

  BANYAN_KERNEL_BODY double Total() const {
    const DoubleLanes eight = low + high;
    const double four[] = {eight[0] + eight[4], eight[1] + eight[5], eight[2] + eight[6], eight[3] + eight[7]};
    return (four[0] + four[2]) + (four[1] + four[3]);
  }

  DoubleLanes low = {};
  DoubleLanes high = {};
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_LANE_ACCUMULATOR_H_
