// Divides the time that a user gives a round (`controller: budget`) among the links of a policy, so that the whole
// round takes no longer. Half of it is for the way up, half for the way down. Each half is shared between the links of
// every tree as compression/control/budget_share.h says. Pure function.
#ifndef BANYAN_SCHEDULER_POLICY_LINK_BUDGETS_H_
#define BANYAN_SCHEDULER_POLICY_LINK_BUDGETS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/types/span.h"
#include "core/ids.h"
#include "proto/compression/compression_config.h"
#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// The part of the round's time that a link may take, by its ends, in (0, 1]; links without an entry have 1.
using LinkBudgets = std::map<std::pair<NodeId, NodeId>, double>;

// Returns the parts of all links; empty when no rule has a budget. The first rule's budget is divided, and other rules'
// budgets have the same parts. A link that several trees use gets the least of their parts. `tensors` are those
// of the job; while they are unknown (empty) all links count as too slow. REQUIRES: the policy is valid for the view.
LinkBudgets MakeLinkBudgets(const Policy& policy, const NetworkView& view, const CompressionConfig& compression,
                            const std::vector<PlannedTensor>& tensors);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_LINK_BUDGETS_H_
