// Finds the elements that top-k keeps: those of the largest magnitude, not-a-numbers first. Elements that are zero are
// never kept, as a receiver has them anyway. Pure functions; the indices rise.
#ifndef BANYAN_COMPRESSION_CODECS_TOP_K_SELECTION_H_
#define BANYAN_COMPRESSION_CODECS_TOP_K_SELECTION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "compression/kernels/magnitudes.h"

namespace banyan {

// Returns how many of `elements` are kept with `ratio`: at least one, at most all. REQUIRES: elements > 0.
int64_t KeptElements(int64_t elements, double ratio);

// Zero, which is never kept, lies below.
inline constexpr Magnitude kLeastKeptMagnitude = 1;

// Exponent and seven bits of the fraction of a threshold: a sample says no more.
inline constexpr int kSampledBits = 15;

// The number of values that are sampled for a threshold, and the threshold's rank among them, from 1.
struct TopKSample {
  int64_t size = 0;
  int64_t rank = 0;
};

// Returns the sample for k of `elements`. `spare_deviations` standard deviations of the number that is kept are added
// to k before.
TopKSample TopKSampleOf(int64_t elements, int64_t k, double spare_deviations);

// Returns whether `found` is about k.
bool IsSampledNumberGood(int64_t found, int64_t k);

// The k largest, of equal ones those of lower index; fewer than k only when no others differ from zero. A sample gives
// a threshold that is probably too low by a little, and what reaches it is looked through exactly; if it misses, all
// values are. REQUIRES: 1 <= k <= values.size() <= INT32_MAX.
std::vector<uint32_t> SelectLargest(absl::Span<const float> values, int64_t k);

// About k of the largest: all from a threshold on that is found in a sample. A hundredth of the values is sampled, at
// most 4,096. More are sampled where fewer than about 16 of them would be kept, but never more than an eighth of the
// values. Then the number of kept elements varies by a quarter or less (standard deviation). Where less than k/2 or
// more than 2k come out, the selection is the exact one, hence the number never leaves these bounds. Saves the exact
// selection's second look at what is kept (DC2, section IV-C; Lin et al., "Deep gradient compression", 2018, who
// correct a poor threshold in the same way). REQUIRES: as above.
std::vector<uint32_t> SelectLargestSampled(absl::Span<const float> values, int64_t k, uint64_t seed);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_TOP_K_SELECTION_H_
