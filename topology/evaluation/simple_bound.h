// An all-reduce rate that no scheme can beat. Pure function.
#ifndef BANYAN_TOPOLOGY_EVALUATION_SIMPLE_BOUND_H_
#define BANYAN_TOPOLOGY_EVALUATION_SIMPLE_BOUND_H_

#include "topology/network_view.h"

namespace banyan {

// Returns an upper bound of the rate in bits of the model per second. It is at most what each node can send and receive
// (its links together, and its caps). It is also at most the sum of all links divided by the 2(n-1) edges that any
// scheme must load. Infinite for fewer than two nodes.
double SimpleBoundBps(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_SIMPLE_BOUND_H_
