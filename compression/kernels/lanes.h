// The sixteen lanes that the formats of frames and the order of sums speak of, whatever width a device has.
#ifndef BANYAN_COMPRESSION_KERNELS_LANES_H_
#define BANYAN_COMPRESSION_KERNELS_LANES_H_

#include <cstdint>

#include "compression/kernels/kernel_body.h"

namespace banyan {

inline constexpr int64_t kLanes = 16;

inline constexpr uint32_t kSignBit = 0x80000000;

// The sum of all lanes in the order of lane_sums.h. Overwrites them.
BANYAN_KERNEL_BODY double TotalOfLanes(double* lanes) {
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_LANES_H_
