// Prices that prove the simple bound (topology/evaluation/simple_bound.h), and one of groups of nodes, for searches to
// begin with. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_SIMPLE_PRICES_H_
#define BANYAN_TOPOLOGY_PACKING_SIMPLE_PRICES_H_

#include <vector>

#include "topology/packing/capacity_graph.h"

namespace banyan {

// Returns two lists of prices, by number in the graph: all links alike, and the links, or the cap, of the node that can
// send or receive the least. The better of their bounds is the simple one.
std::vector<std::vector<double>> SimplePrices(const CapacityGraph& graph);

// Returns prices by number in the graph, 1 for each link between two groups of nodes and 0 for the others. Nodes are
// put together along the fastest links first, and of the groupings on the way the one that proves the least bound is
// taken: links within groups may be so fast that nobody can use them (partition_bound.h says what groups prove).
std::vector<double> GroupPrices(const CapacityGraph& graph);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_SIMPLE_PRICES_H_
