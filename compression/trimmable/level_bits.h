// What the levels of trimmable codecs are made of: bits of floats and of codes, packed; dithers; and codes that can be
// cut. The same bits on every machine. Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_LEVEL_BITS_H_
#define BANYAN_COMPRESSION_TRIMMABLE_LEVEL_BITS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"
#include "compression/kernels/random_bits.h"

namespace banyan {

// ---- tails ----

// The bits of floats without their signs, 31 of each, packed and joined with signs of sign_bits.h again. Integers
// only.
//
// Order: 512 elements make 32 vectors of 16 words. Those from 0 to 30 lie one after the other. The top bit of lane l in
// vector k, where a sign was, is bit k of lane l in vector 31. What is left of fewer than 512 elements takes a word
// each, with a zero on top. Words are little-endian, at any alignment.

// Returns the size in bytes of the tails of `elements`.
int64_t TailBytes(int64_t elements);

// Writes the TailBytes(values.size()) bytes of `tails`.
void PackTails(absl::Span<const float> values, uint8_t* tails, KernelPath path = BestKernelPath());

// values[i] = the i-th of `tails` with the i-th sign of `signs`.
void UnpackTails(const uint8_t* signs, const uint8_t* tails, absl::Span<float> values,
                 KernelPath path = BestKernelPath());

// Returns whether the top bits of words that have no use for them are zero, in tails of `elements`.
bool IsTailPaddingZero(const uint8_t* tails, int64_t elements);

// ---- planes ----

// Neighbouring bits of many 32-bit codes, packed without gaps, and put back. Integers only.
//
// Order of planes of 1 and of 4 bits: 16 words of 32 bits hold as many elements as fit. The element 16 k + l is the
// k-th from below in the l-th word. What is left takes element after element, from the lowest bit of each byte on. So a
// plane of 1 bit is as in sign_bits.h. A plane of 24 bits has the lower 16 bits of all elements, then the upper 8.

// A plane: `width` bits, 1, 4 or 24, from bit `lowest` of each code on.
struct BitPlane {
  int lowest = 0;
  int width = 1;
};

inline int64_t PlaneBytes(int64_t elements, int width) { return (elements * width + 7) / 8; }

// Writes the PlaneBytes() bytes of `bytes`.
void PackPlane(absl::Span<const uint32_t> codes, BitPlane plane, uint8_t* bytes, KernelPath path = BestKernelPath());

// Sets the bits of the plane in `codes`. REQUIRES: they are zero.
void UnpackPlane(const uint8_t* bytes, BitPlane plane, absl::Span<uint32_t> codes, KernelPath path = BestKernelPath());

// Returns whether the bits after the last of `elements` are zero.
bool IsPlanePaddingZero(const uint8_t* bytes, int64_t elements, int width);

// ---- dithers ----

// Random numbers by position that are added to values before their signs are taken. Vectorised by the
// compiler.

// The dither of element i is uniform in [-bound, bound), from the upper 24 bits of RandomWord(key, i).

// dithered[i] = values[i], cut to [-bound, bound], plus its dither. REQUIRES: equal lengths.
void AddDither(absl::Span<const float> values, RandomKey key, float bound, absl::Span<float> dithered);

// values[i] -= its dither.
void SubtractDither(RandomKey key, float bound, absl::Span<float> values);

// ---- codes that can be cut ----

// A quantizer of normal numbers whose codes can be cut: the first b bits of a code are the code of a coarser quantizer.
//
// A code has 32 bits: the sign; 3 bits of the cell in which the magnitude, in units of `unit`, lies; 28 bits of where
// in the cell it lies. The bounds of cells are those of the best quantizer with 16 levels (Max, "Quantizing for Minimum
// Distortion", 1960; Lloyd, 1982). The last cell ends at the greatest magnitude of a row. Cut to 1, 2, 3 or 4 bits a
// code stands for the mean of a normal number in the cells that are left. That is within a few percent of the best
// quantizer of so many bits, although the bounds serve all of them. With more bits it stands for a middle.

struct QuantizerScale {
  float unit = 0;      // the root mean square of the row; above 0 and finite
  float greatest = 0;  // magnitude in the row, in units; finite
};

// codes[i] = the code of row[i]. REQUIRES: equal lengths, all of `row` finite.
void QuantizeEmbedded(absl::Span<const float> row, const QuantizerScale& scale, absl::Span<uint32_t> codes,
                      KernelPath path = BestKernelPath());

// row[i] = what codes[i] stands for in units when cut to its first `bits`: 1, 2, 3, 4, or up to 32. REQUIRES: equal
// lengths.
void DequantizeEmbedded(absl::Span<const uint32_t> codes, int bits, float greatest, absl::Span<float> row,
                        KernelPath path = BestKernelPath());

// Returns the sum of row[i] times what codes[i] stands for, as DequantizeEmbedded has it, in the order of
// vector_math.h.
double CorrelateEmbedded(absl::Span<const uint32_t> codes, int bits, float greatest, absl::Span<const float> row,
                         KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_LEVEL_BITS_H_
