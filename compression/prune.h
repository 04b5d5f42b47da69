// NetSenseML's second step before gradients are sent (algorithm 2): gradients of the smallest weights become zero,
// which leaves the room in a frame to others. Pure function.
#ifndef BANYAN_COMPRESSION_PRUNE_H_
#define BANYAN_COMPRESSION_PRUNE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/encoding.h"

namespace banyan {

// The share of weights whose gradients are pruned when a link's compression ratio is that: factor * (1 - ratio), the
// factor being 0.5 in the paper. REQUIRES: 0 <= ratio <= 1, 0 <= factor <= 0.5.
double PruningShare(double factor, double ratio);

// Zeroes the gradients of `share` of the weights, those of the smallest magnitude, and gives their number: never more
// than floor(share * n), fewer when many weights are equal (none of a tensor that is all zeros). Not-a-number is the
// largest magnitude. With TopKSelection::kSampled 4,096 weights chosen by `seed` say what is small where there are
// eight times as many; the share is then met to 0.8 percentage points (standard deviation). REQUIRES: as many gradients
// as weights, at most INT32_MAX; 0 <= share <= 0.5.
int64_t PruneSmallestWeights(absl::Span<const float> weights, double share, TopKSelection selection, uint64_t seed,
                             absl::Span<float> gradients);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_PRUNE_H_
