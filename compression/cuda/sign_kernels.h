// Kernels of the frames of sign_codec.cc. device.h tells what a kernel is. Values; whoever runs one keeps the memory
// that it points to.
#ifndef BANYAN_COMPRESSION_CUDA_SIGN_KERNELS_H_
#define BANYAN_COMPRESSION_CUDA_SIGN_KERNELS_H_

#include <cstdint>

#include "compression/cuda/device_math.h"
#include "compression/kernels/kernel_body.h"
#include "compression/kernels/sign_layout.h"

namespace banyan {

inline constexpr int kLaneCount = static_cast<int>(kLanes);

BANYAN_KERNEL_BODY double MagnitudeInDouble(float value) {
  return static_cast<double>(FloatOfBits(BitsOf(value) & ~kSignBit));
}

// The 32-bit word of a whole group of signs that holds those of one lane.
BANYAN_KERNEL_BODY uint32_t PackLaneOfGroup(const float* group, int lane) {
  uint32_t word = 0;
  for (int k = 0; k < 32; ++k) word |= BitsOf(group[k * kLaneCount + lane]) >> 31 << k;
  return word;
}

// The byte that holds the signs of up to eight elements behind the last whole group.
BANYAN_KERNEL_BODY uint8_t PackTailByte(const float* values, int64_t left) {
  uint32_t packed = 0;
  for (int k = 0; k < 8 && k < left; ++k) packed |= BitsOf(values[k]) >> 31 << k;
  return static_cast<uint8_t>(packed);
}

// The sign bit, where a float has it, of the element `i` of `elements`.
BANYAN_KERNEL_BODY uint32_t SignAt(const uint8_t* bits, int64_t elements, int64_t i) {
  int64_t bit = i;
  if (i < elements / kSignGroup * kSignGroup) {
    const int64_t in_group = i % kSignGroup;
    bit = i - in_group + in_group % kLanes * 32 + in_group / kLanes;
  }
  return static_cast<uint32_t>(bits[bit / 8]) >> (bit % 8) << 31;
}

// Scales and signs of all blocks. A thread has a lane of a block: its part of the sum comes in the order of
// vector_math.h. Blocks: one for each kBlocks blocks of signs.
struct EncodeSignsKernel {
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 2;
  static constexpr int kBlocks = kThreads / kLaneCount;
  struct Shared {
    double lanes[kBlocks][kLaneCount];
  };

  const float* values = nullptr;
  int64_t elements = 0;
  uint8_t* scales = nullptr;
  uint8_t* bits = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const int64_t sign_block = block * kBlocks + thread / kLaneCount;
    const int64_t first = sign_block * kSignBlock;
    if (first >= elements) return;
    const int64_t count = elements - first < kSignBlock ? elements - first : kSignBlock;
    const int lane = thread % kLaneCount;
    double* const lanes = shared.lanes[thread / kLaneCount];
    if (step == 0) {
      lanes[lane] = Pack(values + first, count, lane, bits + first / 8);
    } else if (lane == 0) {
      const float scale = MeanMagnitude(TotalOfLanes(lanes), count);
      StoreNumber(BitsOf(scale), scales + sign_block * static_cast<int64_t>(sizeof(scale)));
    }
  }

  // The lane's share of a block's bits; returns its sum.
  BANYAN_KERNEL_BODY static double Pack(const float* block_values, int64_t count, int lane, uint8_t* to) {
    double sum = 0;
    for (int64_t i = lane; i < count; i += kLaneCount) sum += MagnitudeInDouble(block_values[i]);
    int64_t group = 0;
    for (; group + kSignGroup <= count; group += kSignGroup) {
      StoreNumber(PackLaneOfGroup(block_values + group, lane), to + group / 8 + lane * 4);
    }
    for (int64_t i = group + 8 * lane; i < count; i += 8 * kLaneCount) {
      to[i / 8] = PackTailByte(block_values + i, count - i);
    }
    return sum;
  }
};

// out[i] = the scale with the sign, or is added to. Blocks: one for each kThreads elements.
struct DecodeSignsKernel {
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 1;
  struct Shared {};

  const uint8_t* scales = nullptr;
  const uint8_t* bits = nullptr;
  int64_t elements = 0;
  bool add = false;
  float* out = nullptr;

  BANYAN_KERNEL_BODY void Step(int, int64_t block, int thread, Shared&) const {
    const int64_t i = block * kThreads + thread;
    if (i >= elements) return;
    const uint32_t scale = LoadNumber<uint32_t>(scales + i / kSignBlock * 4);
    const float value = FloatOfBits(scale ^ SignAt(bits, elements, i));
    out[i] = add ? AddAsHost(out[i], value) : value;
  }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_SIGN_KERNELS_H_
