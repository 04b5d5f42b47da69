// Floats to votes in planes of bits and back, vectorised for the processor that it runs on; every path gives the same
// bits. Elements lie in a plane in the order of sign_bits.h, so that a vector packs its own; counting does not mind.
// Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_COUNTS_VOTE_PACKING_H_
#define BANYAN_COMPRESSION_COUNTS_VOTE_PACKING_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

// Sets the bit of each value above `threshold`, in PlaneWords(values.size()) words. A not-a-number is above nothing.
void PackAbove(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path = BestKernelPath());

// Sets the bit of each value below -threshold.
void PackBelow(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path = BestKernelPath());

// values[i] += addend where the bit is set. Elsewhere it adds zero.
void AddWhereSet(const uint64_t* plane, float addend, absl::Span<float> values, KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_VOTE_PACKING_H_
