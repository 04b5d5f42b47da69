// The paths that IP packets take over an overlay: fewest hops, among these the one with the smallest sum of
// 1/throughput (the rates at the start), then the one over the lower ids. Pure function.
#ifndef BANYAN_WAN_HOP_ROUTES_H_
#define BANYAN_WAN_HOP_ROUTES_H_

#include <cstddef>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

// Positions in view.nodes() of every node on the way from `source`, it and the destination included, by destination.
// That to itself is `source` alone, that to an unreachable node is empty.
std::vector<std::vector<size_t>> HopRoutesFrom(const NetworkView& view, size_t source);

}  // namespace banyan

#endif  // BANYAN_WAN_HOP_ROUTES_H_
