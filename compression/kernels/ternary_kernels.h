// Blocks of 320 elements as -1, 0 or 1 times a scale, five of them in a byte. Vectorised for the processor that it runs
// on; every path gives the same bits. Let m be the block's largest magnitude. Then x becomes its sign with the
// probability |x|/m, to 2^-24, and 0 otherwise. It stands for m times that: unbiased but for float32's own rounding.
//
// A block of n elements takes ceil(n/5) bytes. Byte i is the sum over k of (t + 1) 3^k. There t is the ternary of
// element i + k ceil(n/5), 0 where there is none. Bytes are 242 at most. Scales lie at any alignment. Pure functions;
// thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_TERNARY_KERNELS_H_
#define BANYAN_COMPRESSION_KERNELS_TERNARY_KERNELS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

// Elements that share a scale: 64 bytes of five, one wide vector. The scale adds 6% to the bytes; the error grows with
// the largest of a block, by 15% from 320 elements to 1,280.
inline constexpr int64_t kTernaryBlock = 320;
inline constexpr int64_t kTritsPerByte = 5;

inline int64_t TernaryBlocks(int64_t elements) { return (elements + kTernaryBlock - 1) / kTernaryBlock; }

// Returns the bytes of all blocks of `elements` elements together, without scales.
inline int64_t TritBytes(int64_t elements) { return (elements + kTritsPerByte - 1) / kTritsPerByte; }

// Writes TernaryBlocks() scales and TritBytes() bytes.
void EncodeTernary(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* trits,
                   KernelPath path = BestKernelPath());

// REQUIRES: AreTrits().
void DecodeTernary(const uint8_t* scales, const uint8_t* trits, absl::Span<float> values,
                   KernelPath path = BestKernelPath());
void AddTernary(const uint8_t* scales, const uint8_t* trits, absl::Span<float> sums,
                KernelPath path = BestKernelPath());

// Returns whether every byte at `trits` holds five trits, with 0 where none of `elements` is.
bool AreTrits(const uint8_t* trits, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_TERNARY_KERNELS_H_
