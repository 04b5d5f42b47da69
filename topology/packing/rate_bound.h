// The tightest bound on the all-reduce rate that is known without a plan. Pure function.
#ifndef BANYAN_TOPOLOGY_PACKING_RATE_BOUND_H_
#define BANYAN_TOPOLOGY_PACKING_RATE_BOUND_H_

#include "topology/network_view.h"

namespace banyan {

// Returns the least of the simple bound, of the partition bound for few nodes, and of what the prices of a packing
// prove. It is in bits of the model per second; infinite for fewer than two nodes. Takes as long as a plan of `packed`:
// not for every plan, but for whoever prints or judges one.
double RateBoundBps(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_RATE_BOUND_H_
