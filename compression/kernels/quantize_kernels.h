// Stochastic quantization of blocks of 256 elements to 8 or 4 bits, vectorised for the processor that it runs on; every
// path gives the same bits. Let m be the block's largest magnitude and L the number of levels on either side of zero
// (127 or 7). Let u be uniform in [0, 1) in steps of 2^-23. Then x becomes floor(x * L/m + u) and stands for m/L times
// that: unbiased but for float32's own rounding. Scales lie at any alignment. Pure functions; thread-safe on distinct
// outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_QUANTIZE_KERNELS_H_
#define BANYAN_COMPRESSION_KERNELS_QUANTIZE_KERNELS_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "absl/types/span.h"
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

// Elements that share a scale. Smaller ones have a smaller largest magnitude, hence error; a scale of four bytes then
// adds 1.6% to 8 bits and 3.1% to 4 bits, where 64 elements would add 6.3% and 12.5%.
inline constexpr int64_t kQuantizeBlock = 256;

inline int64_t QuantizeBlocks(int64_t elements) { return (elements + kQuantizeBlock - 1) / kQuantizeBlock; }

inline int64_t QuantizeScaleBytes(int64_t elements) {
  return QuantizeBlocks(elements) * static_cast<int64_t>(sizeof(float));
}

// The parts of a frame: the scales m/L of its blocks, and the levels.
struct QuantizedFrame {
  const uint8_t* scales;
  const uint8_t* levels;
};

// Returns the parts of `frame`, which has the levels of `elements` elements behind their scales.
inline QuantizedFrame QuantizedParts(const uint8_t* frame, size_t elements) {
  return {.scales = frame, .levels = frame + QuantizeScaleBytes(static_cast<int64_t>(elements))};
}

// Writes QuantizeBlocks() scales and a byte per element, its level in two's complement.
void QuantizeTo8Bits(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* levels,
                     KernelPath path = BestKernelPath());
void Decode8Bits(QuantizedFrame frame, absl::Span<float> values, KernelPath path = BestKernelPath());
void Add8Bits(QuantizedFrame frame, absl::Span<float> sums, KernelPath path = BestKernelPath());

// Writes QuantizeBlocks() scales and half a byte per element: of a block of n elements, byte i holds the levels of
// element i (low bits) and of element i + ceil(n/2) (high bits; 0 where there is none).
void QuantizeTo4Bits(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* levels,
                     KernelPath path = BestKernelPath());
void Decode4Bits(QuantizedFrame frame, absl::Span<float> values, KernelPath path = BestKernelPath());
void Add4Bits(QuantizedFrame frame, absl::Span<float> sums, KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_QUANTIZE_KERNELS_H_
