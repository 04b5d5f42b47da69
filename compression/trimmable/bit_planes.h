// Neighbouring bits of many 32-bit codes, packed without gaps, and put back. Integers only, hence the same bits
// everywhere. Pure functions; thread-safe on distinct outputs.
//
// Order of planes of 1 and of 4 bits: 16 words of 32 bits hold as many elements as fit. The element 16 k + l is the
// k-th from below in the l-th word. What is left takes element after element, from the lowest bit of each byte on. So a
// plane of 1 bit is as in sign_bits.h. A plane of 24 bits has the lower 16 bits of all elements, then the upper 8.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_BIT_PLANES_H_
#define BANYAN_COMPRESSION_TRIMMABLE_BIT_PLANES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_BIT_PLANES_H_
