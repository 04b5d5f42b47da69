// Elements by their magnitude: the k-th largest, and where those from a threshold on are. Pure functions, vectorised
// for the processor that they run on with the same result on each.
//
// A magnitude is the bits of a float32 without its sign. As integers they are in the order of the magnitudes, infinity
// above all numbers and not-a-number above infinity. So a training that diverges is seen wherever the largest elements
// go.
#ifndef BANYAN_COMPRESSION_KERNELS_MAGNITUDES_H_
#define BANYAN_COMPRESSION_KERNELS_MAGNITUDES_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

using Magnitude = uint32_t;

inline Magnitude MagnitudeOf(float value) { return std::bit_cast<uint32_t>(value) & 0x7fffffff; }

inline constexpr int kMagnitudeBits = 31;

// The largest magnitude that at least `k` values reach, of which only the highest `bits` bits are found and the others
// are zero; the time is proportional to them. REQUIRES: 1 <= k <= values.size() <= INT32_MAX, bits is odd and at most
// kMagnitudeBits.
Magnitude KthLargestMagnitude(absl::Span<const float> values, int64_t k, int bits = kMagnitudeBits,
                              KernelPath path = BestKernelPath());

// The rising indices of all values of at least `threshold`; when they are more than `limit`, the first ones of them,
// more than `limit` of these too. REQUIRES: values.size() <= INT32_MAX, the processor has the path.
std::vector<uint32_t> CollectFrom(absl::Span<const float> values, Magnitude threshold, int64_t limit,
                                  KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_MAGNITUDES_H_
