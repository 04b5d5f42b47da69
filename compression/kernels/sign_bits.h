// One bit per float: packing the signs and writing a number with each, vectorised for the processor that it runs on;
// every path gives the same bits. A set bit is a minus.
//
// Order: each 512 elements take sixteen little-endian words of 32 bits. Bit k of the l-th word is the sign of element
// 16 k + l. So any vector packs 32 elements of its own with shifts alone. The rest follows with element i in bit i mod
// 8 of byte i/8. Bits lie at any alignment; those after the last element are zero. Pure functions; thread-safe on
// distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_SIGN_BITS_H_
#define BANYAN_COMPRESSION_KERNELS_SIGN_BITS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"
#include "compression/kernels/sign_layout.h"

namespace banyan {

// Writes SignBytes(values.size()) bytes and returns the sum of the magnitudes, which has the order of vector_math.h.
// Zeros and not-a-numbers have signs like any other.
double PackSigns(absl::Span<const float> values, uint8_t* bits, KernelPath path = BestKernelPath());

// values[i] = magnitude or -magnitude; the magnitude may be a not-a-number.
void UnpackSigns(const uint8_t* bits, float magnitude, absl::Span<float> values, KernelPath path = BestKernelPath());

// sums[i] += magnitude or -magnitude.
void AddSigns(const uint8_t* bits, float magnitude, absl::Span<float> sums, KernelPath path = BestKernelPath());

// Returns whether the bits after the last of `elements` in `bits` are zero.
bool IsPaddingZero(const uint8_t* bits, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_SIGN_BITS_H_
