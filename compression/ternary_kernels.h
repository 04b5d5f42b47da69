// Blocks of 320 elements as -1, 0 or 1 times a scale, five of them in a byte, vectorised for the processor that it runs
// on; every path gives the same bits. With the block's largest magnitude m, x becomes its sign with the probability
// |x|/m, to 2^-24, and 0 otherwise, and stands for m times that: unbiased but for float32's own rounding.
//
// Of a block of n elements, byte i of ceil(n/5) is the sum over k of (t + 1) 3^k with the ternary t of element
// i + k ceil(n/5), 0 where there is none; bytes are 242 at most. Scales lie at any alignment. Pure functions;
// thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_TERNARY_KERNELS_H_
#define BANYAN_COMPRESSION_TERNARY_KERNELS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernel_path.h"

namespace banyan {

// Elements that share a scale: 64 bytes of five, one wide vector. The scale adds 6% to the bytes; the error grows with
// the largest of a block, by 15% from 320 elements to 1,280.
inline constexpr int64_t kTernaryBlock = 320;
inline constexpr int64_t kTritsPerByte = 5;

inline int64_t TernaryBlocks(int64_t elements) { return (elements + kTernaryBlock - 1) / kTernaryBlock; }

// Of all blocks together.
inline int64_t TritBytes(int64_t elements) { return (elements + kTritsPerByte - 1) / kTritsPerByte; }

// Writes TernaryBlocks() scales and TritBytes() bytes.
void EncodeTernary(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* trits,
                   KernelPath path = BestKernelPath());

// REQUIRES: AreTrits().
void DecodeTernary(const uint8_t* scales, const uint8_t* trits, absl::Span<float> values,
                   KernelPath path = BestKernelPath());
void AddTernary(const uint8_t* scales, const uint8_t* trits, absl::Span<float> sums,
                KernelPath path = BestKernelPath());

// Whether every byte holds five trits and there is 0 where there is no element.
bool AreTrits(const uint8_t* trits, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TERNARY_KERNELS_H_
