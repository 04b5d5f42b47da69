// The largest magnitude of a block and what follows from it, for kernels that quantize against it. Bodies of kernels.
#ifndef BANYAN_COMPRESSION_KERNELS_BLOCK_SCALE_H_
#define BANYAN_COMPRESSION_KERNELS_BLOCK_SCALE_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "compression/kernels/kernel_path.h"

namespace banyan {

// Little-endian float32 of a frame, at any alignment.
typedef float UnalignedScale __attribute__((aligned(1), may_alias));

// A block whose magnitudes all lie below this is zeros: its reciprocals would leave float32.
inline constexpr float kLeastMagnitude = 0x1p-90f;

// The largest magnitude of a block; not-a-number when something in it is not finite, 0 below kLeastMagnitude. As
// integers, magnitudes have the order of their values, infinity above all numbers and not-a-numbers above infinity.
BANYAN_KERNEL_BODY float LargestMagnitude(const float* values, int64_t count) {
  int32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t magnitude = std::bit_cast<int32_t>(values[i]) & 0x7fffffff;
    largest = magnitude > largest ? magnitude : largest;
  }
  if (largest >= 0x7f800000) return std::numeric_limits<float>::quiet_NaN();
  const float magnitude = std::bit_cast<float>(largest);
  return magnitude < kLeastMagnitude ? 0.0f : magnitude;
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_BLOCK_SCALE_H_
