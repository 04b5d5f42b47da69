// Finds the ways by which a node reaches others over the connections of a policy. Pure function.
#ifndef BANYAN_SCHEDULER_TRANSFER_HOLDER_PATHS_H_
#define BANYAN_SCHEDULER_TRANSFER_HOLDER_PATHS_H_

#include <map>
#include <vector>

#include "core/ids.h"
#include "topology/policy.h"

namespace banyan {

// Returns, for each node that `from` can reach, a path to it with both ends, with the fewest hops, over nodes that have
// connections with each other under this policy. The path to `from` itself is `from` alone. Ties go to lower ids.
std::map<NodeId, std::vector<NodeId>> PathsFrom(NodeId from, const Policy& policy);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_TRANSFER_HOLDER_PATHS_H_
