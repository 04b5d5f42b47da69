// Checks whether a policy keeps its promises. Pure functions; the scheduler asks before it publishes, and tests ask all
// planners.
#ifndef BANYAN_TOPOLOGY_POLICY_CHECK_H_
#define BANYAN_TOPOLOGY_POLICY_CHECK_H_

#include <set>

#include "absl/status/status.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Checks that a tree is one: both halves span the members without a cycle. INVALID_ARGUMENT names the half and the node
// that is wrong. `view` is only asked for names.
absl::Status CheckTree(const Tree& tree, const std::set<NodeId>& members, const NetworkView& view);

// Checks everything a policy promises over `view`; INVALID_ARGUMENT says what fails:
//  - Members are known and ascending.
//  - Every tree spans all of them without a cycle in both halves.
//  - Shares are positive and sum to 1.
//  - Each tree edge is a link or has a route.
//  - Routes and auxiliary paths are forward-only over existing links.
//  - An auxiliary path is of a tree edge. It shares no link with that edge's primary path or its other auxiliary paths.
absl::Status ValidatePolicy(const Policy& policy, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_POLICY_CHECK_H_
