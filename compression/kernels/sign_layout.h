// The places of signs in frames, and their scale, for any device: the order of sign_bits.h and the blocks of
// sign_codec.h. Pure functions.
#ifndef BANYAN_COMPRESSION_KERNELS_SIGN_LAYOUT_H_
#define BANYAN_COMPRESSION_KERNELS_SIGN_LAYOUT_H_

#include <bit>
#include <cstdint>

#include "compression/kernels/kernel_body.h"

namespace banyan {

inline constexpr int64_t kSignGroup = 512;

// Elements of a scale: it adds 3% to the bits. A whole number of groups, so that each block's bits are apart.
inline constexpr int64_t kSignBlock = 2 * kSignGroup;

BANYAN_KERNEL_BODY int64_t SignBytes(int64_t elements) { return (elements + 7) / 8; }

BANYAN_KERNEL_BODY int64_t SignBlocks(int64_t elements) { return (elements + kSignBlock - 1) / kSignBlock; }

// A block's scale from the sum of its magnitudes; not-a-number where that is not finite.
BANYAN_KERNEL_BODY float MeanMagnitude(double sum, int64_t count) {
  constexpr uint32_t kNotANumber = 0x7fc00000;
  constexpr uint32_t kInfinity = 0x7f800000;
  const float mean = static_cast<float>(sum / static_cast<double>(count));
  const bool is_finite = (std::bit_cast<uint32_t>(mean) & kInfinity) != kInfinity;
  return is_finite ? mean : std::bit_cast<float>(kNotANumber);
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_SIGN_LAYOUT_H_
