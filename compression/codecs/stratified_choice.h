// Different elements of a range, chosen evenly by a seed: the same on every machine. Pure function.
//
// The range is cut into as many strata as elements are wanted, as equal as whole elements allow. Each stratum gives one
// element, drawn uniformly. The whole choice is turned round the range by a uniform number of elements. So nothing is
// chosen twice, and no table of what was chosen is needed. The elements come in (cyclically) rising order, which is
// kind to caches.
//
// The turn makes every element equally likely, count / range, although the strata differ by one element. The draws of
// different strata are independent, and two elements of one stratum never come together. Hence the sum of chosen
// elements varies no more than with a choice without strata.
#ifndef BANYAN_COMPRESSION_CODECS_STRATIFIED_CHOICE_H_
#define BANYAN_COMPRESSION_CODECS_STRATIFIED_CHOICE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"
#include "compression/kernels/random_bits.h"

namespace banyan {

// The strata that a seed gives for `count` of the elements. REQUIRES: 1 <= count <= range <= INT32_MAX.
Strata StrataOf(int64_t range, int64_t count, uint64_t seed);

// Fills `indices` with different indices below `range`. A draw is uniform to 2^-32 of its stratum. REQUIRES:
// 1 <= indices.size() <= range <= INT32_MAX.
void ChooseStratified(int64_t range, uint64_t seed, absl::Span<uint32_t> indices, KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_STRATIFIED_CHOICE_H_
