// Checks that a tree is one: both halves span the members without a cycle. Pure function.
#ifndef BANYAN_TOPOLOGY_TREE_CHECK_H_
#define BANYAN_TOPOLOGY_TREE_CHECK_H_

#include <set>

#include "absl/status/status.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// INVALID_ARGUMENT names the half and the node that is wrong. `view` is only asked for names.
absl::Status CheckTree(const Tree& tree, const std::set<NodeId>& members, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_TREE_CHECK_H_
