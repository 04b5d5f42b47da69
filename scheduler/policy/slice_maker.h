// Cuts a policy into what each node needs to know of it. Pure function.
#ifndef BANYAN_SCHEDULER_POLICY_SLICE_MAKER_H_
#define BANYAN_SCHEDULER_POLICY_SLICE_MAKER_H_

#include <map>
#include <string>

#include "core/ids.h"
#include "proto/policy_slice.h"
#include "scheduler/policy/link_budgets.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// The address of a node, and the start of it that listens there.
struct NodeAddress {
  std::string address;
  Incarnation incarnation;
};

// The slice of each member. Neighbours are those with whom a node exchanges anything directly: both ends of tree edges
// that are links, and both ends of every hop of routes and auxiliary paths (acknowledgements come back on the
// receiver's own connection). Rates and round trips are the view's: the slowest link of a path, and the sum of both
// directions of its links. REQUIRES: the policy is valid for the view, and `addresses` has all its members.
std::map<NodeId, PolicySlice> MakeSlices(const Policy& policy, const NetworkView& view,
                                         const TransmissionSettings& transmission,
                                         const std::map<NodeId, NodeAddress>& addresses,
                                         const LinkBudgets& budgets = {});

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_SLICE_MAKER_H_
