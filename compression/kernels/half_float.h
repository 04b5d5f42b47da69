// float32 to numbers of two bytes and back, vectorised for the processor that it runs on; every path gives the same
// bits. Infinities stay; not-a-numbers stay, quiet, with the high bits of their payload. The numbers lie little-endian
// at any alignment. Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_HALF_FLOAT_H_
#define BANYAN_COMPRESSION_KERNELS_HALF_FLOAT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

// ---- IEEE 754 binary16 ----

// Rounds to nearest, ties to even: a relative error of at most 2^-11 from 2^-14 to 65504, an absolute one of at most
// 2^-25 below; 65520 and more becomes infinity.

// Writes 2 * values.size() bytes to `halves`.
void FloatsToHalves(absl::Span<const float> values, uint8_t* halves, KernelPath path = BestKernelPath());

// Reads 2 * values.size() bytes from `halves`.
void HalvesToFloats(const uint8_t* halves, absl::Span<float> values, KernelPath path = BestKernelPath());

// sums[i] += the i-th half. Reads 2 * sums.size() bytes from `halves`.
void AddHalvesInto(absl::Span<float> sums, const uint8_t* halves, KernelPath path = BestKernelPath());

// ---- bfloat16 ----

// Rounds to nearest, ties to even; the largest values become infinity as float32's own do.

// Writes 2 * values.size() bytes to `bytes`.
void FloatsToBrainFloats(absl::Span<const float> values, uint8_t* bytes, KernelPath path = BestKernelPath());

// Reads 2 * values.size() bytes from `bytes`.
void BrainFloatsToFloats(const uint8_t* bytes, absl::Span<float> values, KernelPath path = BestKernelPath());

// sums[i] += the i-th number. Reads 2 * sums.size() bytes from `bytes`.
void AddBrainFloatsInto(absl::Span<float> sums, const uint8_t* bytes, KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_HALF_FLOAT_H_
