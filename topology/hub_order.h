// Orders nodes by how good they are as hubs. Pure function.
#ifndef BANYAN_TOPOLOGY_HUB_ORDER_H_
#define BANYAN_TOPOLOGY_HUB_ORDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "topology/network_view.h"

namespace banyan {

// All nodes, from the hub whose star promises the highest rate to the one with the lowest. FAILED_PRECONDITION when the
// nodes are not connected.
absl::StatusOr<std::vector<NodeId>> HubsByRate(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_HUB_ORDER_H_
