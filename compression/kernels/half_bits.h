// One float32 to IEEE 754 binary16 and back, as half_float.h says, with integer operations and one addition: bodies of
// kernels, for any device that adds as IEEE 754 does and keeps subnormal numbers.
#ifndef BANYAN_COMPRESSION_KERNELS_HALF_BITS_H_
#define BANYAN_COMPRESSION_KERNELS_HALF_BITS_H_

#include <bit>
#include <cstdint>

#include "compression/kernels/kernel_body.h"

namespace banyan {

// Every case is computed and the right one chosen, so that the compiler can vectorise. Same results as the
// instruction VCVTPS2PH.
BANYAN_KERNEL_BODY uint16_t HalfBitsOf(float value) {
  constexpr uint32_t kInfinity = 0x7f800000;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSignBit;
  // Adding one half leaves a subnormal half's bits, rounded by the adder, at the end of the mantissa.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  const uint32_t not_a_number = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  uint32_t half = magnitude < (113u << 23) ? subnormal : normal;
  half = magnitude >= (143u << 23) ? 0x7c00 : half;
  half = magnitude > kInfinity ? not_a_number : half;
  return static_cast<uint16_t>(half | (bits & kSignBit) >> 16);
}

// Same results as the instruction VCVTPH2PS.
BANYAN_KERNEL_BODY float FloatOfHalf(uint16_t half) {
  constexpr uint32_t kInfinity = 0x7f800000;
  const uint32_t shifted = static_cast<uint32_t>(half & 0x7fff) << 13;
  const uint32_t normal = shifted + (112u << 23);
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(shifted + (113u << 23)) - std::bit_cast<float>(113u << 23));
  const uint32_t quiet = shifted > (0x7c00u << 13) ? 0x00400000 : 0;
  uint32_t bits = shifted < (1u << 23) ? subnormal : normal;
  bits = shifted >= (0x7c00u << 13) ? (shifted | kInfinity | quiet) : bits;
  return std::bit_cast<float>(bits | static_cast<uint32_t>(half & 0x8000) << 16);
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_HALF_BITS_H_
