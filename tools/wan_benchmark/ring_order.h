// The order in which a ring all-reduce should visit the nodes of a WAN: what somebody who knows the network would give
// a library that takes its ranks as they come. Pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_RING_ORDER_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_RING_ORDER_H_

#include <cstddef>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

// The all-reduce rate of a ring over these positions in view.nodes(), in bits of the model per second: each node sends
// 2(n-1)/n of the model to the next one, by the route of fewest hops, and the most loaded link decides. 0 when some
// node cannot reach the next one.
double RingRateBps(const NetworkView& view, const std::vector<size_t>& order);

// The best order of up to nine nodes, which are tried in all orders; of more, what swaps of two lead to.
std::vector<size_t> BestRingOrder(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_RING_ORDER_H_
