// Packs half trees that together cost no more than a limit of money: the packing of tree_packing.h with one row more.
// What a unit of money is worth is a price like those of capacities, and makes links dearer that charge for bytes: half
// trees that would pay are still the cheapest arborescences. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_PRICED_PACKING_H_
#define BANYAN_TOPOLOGY_PACKING_PRICED_PACKING_H_

#include <cstddef>
#include <vector>

#include "topology/network_view.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"
#include "topology/packing/tree_packing.h"

namespace banyan {

// Both halves of the tree that costs the least money; of several one over fast links.
struct CheapestTree {
  HalfTree reduce;
  HalfTree broadcast;
  double price = 0;  // of both
};

// Returns that of the best of `roots`. REQUIRES: as PackTrees.
CheapestTree FindCheapestTree(const CapacityGraph& graph, const PriceLimit& limit, const std::vector<size_t>& roots);

// Returns a packing whose mean price per bit is at most limit.most, but for rounding, with a rate close to the highest
// of those. Its bound and the prices that prove it are those of PackTrees, without a limit. The rate is 0 where even
// the cheapest tree costs more. REQUIRES: as PackTrees.
TreePacking PackWithin(const CapacityGraph& graph, const PackingOptions& options, const PriceLimit& limit);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_PRICED_PACKING_H_
