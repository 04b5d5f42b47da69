// Whether a node can work with a slice of a policy. The wire has checked each field; this checks that they make sense
// together at this node, so that nothing later runs into a tree edge that leads nowhere. Pure function.
#ifndef BANYAN_NODE_SLICE_CHECK_H_
#define BANYAN_NODE_SLICE_CHECK_H_

#include "absl/status/status.h"
#include "core/ids.h"
#include "proto/policy_slice.h"

namespace banyan {

// Checks the slice that node `self` has been given. INVALID_ARGUMENT names the tree or route at fault:
//  - a tree in which `self` has no parent and is not the root;
//  - a tree neighbour whose way does not begin at `self` and go on to a neighbour;
//  - a neighbour that is `self` or comes twice.
absl::Status CheckSlice(const PolicySlice& slice, NodeId self);

}  // namespace banyan

#endif  // BANYAN_NODE_SLICE_CHECK_H_
