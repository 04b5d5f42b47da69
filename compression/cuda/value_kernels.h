// Kernels that move values between a chunk and the bytes of a frame, all or those at given indices. device.h tells what
// a kernel is. Values; whoever runs one keeps the memory that it points to.
#ifndef BANYAN_COMPRESSION_CUDA_VALUE_KERNELS_H_
#define BANYAN_COMPRESSION_CUDA_VALUE_KERNELS_H_

#include <cstdint>

#include "compression/cuda/device_math.h"
#include "compression/kernels/half_bits.h"
#include "compression/kernels/kernel_body.h"

namespace banyan {

// bytes[i] = values[indices[i]] as floats or halves, little-endian at any alignment; values[i] without indices.
// Blocks: one for each kThreads of `count`.
struct GatherKernel {
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 1;
  struct Shared {};

  const float* values = nullptr;
  const uint32_t* indices = nullptr;
  int64_t count = 0;
  bool as_halves = false;
  uint8_t* bytes = nullptr;

  BANYAN_KERNEL_BODY void Step(int, int64_t block, int thread, Shared&) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    const float value = values[indices == nullptr ? i : indices[i]];
    if (as_halves) {
      StoreNumber(HalfBitsOf(value), bytes + 2 * i);
    } else {
      StoreNumber(BitsOf(value), bytes + 4 * i);
    }
  }
};

// The way back: chunk[indices[i]] becomes the i-th value or gets it added. The indices differ.
struct ScatterKernel {
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 1;
  struct Shared {};

  const uint8_t* bytes = nullptr;
  bool as_halves = false;
  const uint32_t* indices = nullptr;
  int64_t count = 0;
  bool add = false;
  float* chunk = nullptr;

  BANYAN_KERNEL_BODY void Step(int, int64_t block, int thread, Shared&) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    const float value =
        as_halves ? FloatOfHalf(LoadNumber<uint16_t>(bytes + 2 * i)) : FloatOfBits(LoadNumber<uint32_t>(bytes + 4 * i));
    float* const element = chunk + (indices == nullptr ? i : indices[i]);
    *element = add ? AddAsHost(*element, value) : value;
  }
};

// Writes a few bytes that the host knows. One block.
struct WriteBytesKernel {
  static constexpr int kThreads = 32;
  static constexpr int kSteps = 1;
  struct Shared {};

  uint8_t bytes[16] = {};
  int count = 0;  // at most 16
  uint8_t* to = nullptr;

  BANYAN_KERNEL_BODY void Step(int, int64_t, int thread, Shared&) const {
    if (thread < count) to[thread] = bytes[thread];
  }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_VALUE_KERNELS_H_
