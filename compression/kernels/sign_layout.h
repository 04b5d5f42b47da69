// The places of signs in frames, and their scale, for any device: the order of sign_bits.h and the blocks of
// sign_codec.cc. Pure functions.
#ifndef BANYAN_COMPRESSION_KERNELS_SIGN_LAYOUT_H_
#define BANYAN_COMPRESSION_KERNELS_SIGN_LAYOUT_H_

#include <bit>
#include <cstdint>
#include <limits>

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

// A row of this length stays in the second-level cache; longer ones gain nothing.
inline constexpr int64_t kLongestRhtRow = 32768;
inline constexpr int64_t kShortestCutRhtRow = 1024;

// The largest power of two that is not above. REQUIRES: 0 < number < 2^16.
BANYAN_KERNEL_BODY uint32_t PowerOfTwoUpTo(uint32_t number) {
  for (int shift = 1; shift < 16; shift *= 2) number |= number >> shift;
  return number - number / 2;
}

// The transformed length of the next row when that many elements are left. REQUIRES: at least one.
BANYAN_KERNEL_BODY int64_t NextRhtRowSize(int64_t left) {
  if (left >= kLongestRhtRow) return kLongestRhtRow;
  const uint32_t elements = static_cast<uint32_t>(left);
  if (left >= kShortestCutRhtRow) return PowerOfTwoUpTo(elements);
  return left == 1 ? 1 : int64_t{2} * PowerOfTwoUpTo(elements - 1);
}

// The rows into which onebit_rht_codec.cc cuts elements, and a row's scale, for any device. Pure functions.
struct RhtLayout {
  int64_t rows = 0;
  int64_t row_elements = 0;  // of all rows, with the zeros that fill the last one
  int64_t sign_bytes = 0;
  int64_t last_row_size = 0;
};

BANYAN_KERNEL_BODY RhtLayout RhtLayoutOf(int64_t elements) {
  const int64_t long_rows = elements / kLongestRhtRow;
  RhtLayout layout{.rows = long_rows,
                   .row_elements = long_rows * kLongestRhtRow,
                   .sign_bytes = long_rows * SignBytes(kLongestRhtRow),
                   .last_row_size = kLongestRhtRow};
  for (int64_t left = elements % kLongestRhtRow; left > 0; left -= layout.last_row_size) {
    layout.last_row_size = NextRhtRowSize(left);
    layout.row_elements += layout.last_row_size;
    layout.sign_bytes += SignBytes(layout.last_row_size);
    ++layout.rows;
  }
  return layout;
}

// From the sum of squares of a row and the sum of magnitudes after its transform, which is infinite also when the
// butterflies left float32.
BANYAN_KERNEL_BODY float RhtScale(double squares, double magnitudes) {
  constexpr uint32_t kNotANumber = 0x7fc00000;
  if (squares == 0) return 0;
  const bool is_finite = magnitudes <= std::numeric_limits<double>::max();
  return is_finite ? static_cast<float>(squares / magnitudes) : std::bit_cast<float>(kNotANumber);
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_SIGN_LAYOUT_H_
