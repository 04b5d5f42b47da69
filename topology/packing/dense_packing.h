// Packs an overlay in which most nodes have links with each other: trees of few levels come close to the bound there,
// and linear programs over all links take long. Several shallow packings (shallow_packing.h) are tried, and the best is
// kept. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_DENSE_PACKING_H_
#define BANYAN_TOPOLOGY_PACKING_DENSE_PACKING_H_

#include <atomic>
#include <cstddef>
#include <vector>

#include "topology/packing/capacity_graph.h"
#include "topology/packing/tree_packing.h"

namespace banyan {

// With more nodes, linear programs seldom come as close to the bound as PackDense, and take long.
inline constexpr size_t kMostNodesForPrograms = 40;

// Tells if PackDense is worth trying: there are more than a few nodes, and each has links with a good part of the
// others.
bool IsDense(const CapacityGraph& graph);

// Returns a packing of half trees of few levels on `roots`, ascending and not empty. It misses as much of the bound as
// `accuracy` says, or as little as it can; its rate is 0 where there are no such trees. REQUIRES: all
// nodes reach each other. Ends with what it has when `unwanted` becomes true, unless that is null.
TreePacking PackDense(const CapacityGraph& graph, const std::vector<size_t>& roots, double accuracy,
                      const std::atomic<bool>* unwanted = nullptr);

// The bound of PackDense alone, which takes less time: in dense overlays prices that are simple prove it.
double DenseBoundBps(const CapacityGraph& graph);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_DENSE_PACKING_H_
