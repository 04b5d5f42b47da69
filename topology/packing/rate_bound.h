// The tightest bound on the all-reduce rate that is known without a plan. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_RATE_BOUND_H_
#define BANYAN_TOPOLOGY_PACKING_RATE_BOUND_H_

#include <cstddef>

#include "topology/network_view.h"

namespace banyan {

// There are 678,570 ways to group this many nodes, which takes some ten milliseconds.
inline constexpr size_t kMaxPartitionNodes = 11;

// Returns an upper bound of the rate, in bits of the model per second. However the nodes are put into k >= 2 groups,
// each half of each tree crosses between groups at least k-1 times. So 2(k-1) times the rate is at most what all nodes
// together can send to other groups, each over its links and within its cap. It is also at most what they can receive
// from other groups. The bound is the least over all groupings; it is infinite for fewer than two nodes and for more
// than kMaxPartitionNodes.
double PartitionBoundBps(const NetworkView& view);

// Returns the least of the simple bound, of the partition bound for few nodes, and of what the prices of a packing
// prove. It is in bits of the model per second; infinite for fewer than two nodes. Takes as long as a plan of `packed`:
// not for every plan, but for whoever prints or judges one.
double RateBoundBps(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_RATE_BOUND_H_
