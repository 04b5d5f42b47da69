// Shares in whole chunks: which tree gets the chunk that is left over is decided by the links' loads. Pure function.
#ifndef BANYAN_TOPOLOGY_FIT_SHARE_ROUNDING_H_
#define BANYAN_TOPOLOGY_FIT_SHARE_ROUNDING_H_

#include <cstdint>
#include <vector>

#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// Returns the parts of the bits of these tensors, in KeyId order, that the policy's trees get, by TreeIndex, when
// chunks are divided as ChunkAssignment does. REQUIRES: there are a tree and a tensor.
std::vector<double> ChunkedShares(const Policy& policy, const std::vector<PlannedTensor>& tensors);

// The all-reduce rate of a model with these tensors, in KeyId order, whose chunks are divided over the policy's trees
// as ChunkAssignment does. REQUIRES: the policy is valid for the view, and there is a tensor.
double ChunkedRateBps(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors);

// Changes the policy's shares to those that the tensors' chunks really have. Moves single chunks from tree to tree
// while that makes the rate higher. Never lowers ChunkedRateBps. Leaves policies alone that are so large that it would
// take long: their chunks are many, too. REQUIRES: as above.
void RoundShares(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_SHARE_ROUNDING_H_
