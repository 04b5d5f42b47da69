// float32 to bfloat16 and back, vectorised for the processor that it runs on; every path gives the same bits. Rounds to
// nearest, ties to even; the largest values become infinity as float32's own do. Infinities stay; not-a-numbers stay,
// quiet, with the high bits of their payload. The numbers lie little-endian at any alignment. Pure functions;
// thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_BRAIN_FLOAT_H_
#define BANYAN_COMPRESSION_KERNELS_BRAIN_FLOAT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

// Writes 2 * values.size() bytes to `bytes`.
void FloatsToBrainFloats(absl::Span<const float> values, uint8_t* bytes, KernelPath path = BestKernelPath());

// Reads 2 * values.size() bytes from `bytes`.
void BrainFloatsToFloats(const uint8_t* bytes, absl::Span<float> values, KernelPath path = BestKernelPath());

// sums[i] += the i-th number. Reads 2 * sums.size() bytes from `bytes`.
void AddBrainFloatsInto(absl::Span<float> sums, const uint8_t* bytes, KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_BRAIN_FLOAT_H_
