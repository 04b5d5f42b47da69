// What a round costs in money under a policy, and shares that keep it within a budget. A round's price depends on which
// links the model's bytes cross, and not on the rate. It counts the model's elements in the width of their type,
// without compression, headers and what is sent again. Pure functions.
#ifndef BANYAN_TOPOLOGY_FIT_PRICE_FIT_H_
#define BANYAN_TOPOLOGY_FIT_PRICE_FIT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// What a budget may be missed by: floating point, and not money.
inline constexpr double kBudgetRounding = 1e-9;

// Returns how many times 10^9 bytes tensors of these sizes have.
double ModelGigabytes(const std::vector<PlannedTensor>& tensors);

// Returns what 10^9 bytes of the model cost with the policy's shares, of trees and of auxiliary paths. Links that
// have vanished since it was made cost nothing.
double PricePerGb(const Policy& policy, const NetworkView& view);

// Returns what a round of a model with these tensors (in KeyId order) costs, its chunks divided over
// the trees as ChunkAssignment does. REQUIRES: there is a tensor.
double RoundPrice(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors);

// Moves shares from the dearest trees to the cheapest, as little as it takes, until RoundPrice is at most `budget`.
// Trees that have nothing left go. False where all trees cost the same then and that is still too much. REQUIRES: there
// is a tensor.
bool HoldPrice(const NetworkView& view, const std::vector<PlannedTensor>& tensors, double budget, Policy& policy);

// Removes auxiliary paths that cost more than the path of their tree edge, so that whatever takes one costs no more
// than planned.
void DropDearPaths(const NetworkView& view, Policy& policy);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_PRICE_FIT_H_
