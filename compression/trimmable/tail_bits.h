// The bits of floats without their signs, 31 of each, packed and joined with signs of sign_bits.h again. Integers
// only, hence the same bits everywhere. Pure functions; thread-safe on distinct outputs.
//
// Order: 512 elements make 32 vectors of 16 words. Those from 0 to 30 lie one after the other. The top bit of lane l in
// vector k, where a sign was, is bit k of lane l in vector 31. What is left of fewer than 512 elements takes a word
// each, with a zero on top. Words are little-endian, at any alignment.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_TAIL_BITS_H_
#define BANYAN_COMPRESSION_TRIMMABLE_TAIL_BITS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

// Returns the size in bytes of the tails of `elements`.
int64_t TailBytes(int64_t elements);

// Writes the TailBytes(values.size()) bytes of `tails`.
void PackTails(absl::Span<const float> values, uint8_t* tails, KernelPath path = BestKernelPath());

// values[i] = the i-th of `tails` with the i-th sign of `signs`.
void UnpackTails(const uint8_t* signs, const uint8_t* tails, absl::Span<float> values,
                 KernelPath path = BestKernelPath());

// Returns whether the top bits of words that have no use for them are zero, in tails of `elements`.
bool IsTailPaddingZero(const uint8_t* tails, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_TAIL_BITS_H_
