// How long one round of a model takes under a policy, predicted: rates alone say what a large model needs, while a
// small one is done before the pipeline has filled. Pure function.
#ifndef BANYAN_TOPOLOGY_ROUND_TIME_H_
#define BANYAN_TOPOLOGY_ROUND_TIME_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Of float32 values as they are, when nothing is compressed.
inline constexpr double kBitsPerElement = 32;

// From the push of all tensors at once, in KeyId order, until every node has the whole result. `tensor_elements` are
// their sizes; each element takes kBitsPerElement.
//
// Chunks pass every link in the same order, so a round is a permutation flow shop, whose length some link decides: the
// time until the first chunk can be there, the time that all of its chunks take, and the time that the last one still
// needs from there up to its root and down to the farthest node. The trees' chunks alternate, so the first and the last
// may be of any tree that uses the link: the means over its bits count. Computing, acknowledgements and detours count
// nothing. Infinite when a link of the policy is not in the view. REQUIRES: sizes are at least 1, and the policy
// was valid for some view with the same nodes.
absl::Duration PredictRoundTime(const Policy& policy, const NetworkView& view,
                                const std::vector<int64_t>& tensor_elements);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_ROUND_TIME_H_
