// Packs an overlay in which most nodes have links with each other: trees of few levels come close to the bound there,
// and linear programs over all links take long. Several shallow packings are tried, and the best is
// kept. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_DENSE_PACKING_H_
#define BANYAN_TOPOLOGY_PACKING_DENSE_PACKING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"
#include "topology/packing/tree_packing.h"

namespace banyan {

// What trees prefer. No style is the best everywhere.
struct ShallowStyle {
  size_t levels = 2;  // that a half tree has at most
  // How much a slow link costs more than a fast one that is as empty: the power of how much faster the other is.
  double slowness = 0.5;
  double load = 2;     // by which part a link's price grows when it is filled once
  double serving = 3;  // how much a node's serving costs, beside an empty link of the mean rate
};

struct ShallowPackingOptions {
  std::vector<size_t> roots;  // that trees may have, ascending; not empty
  double bound_bps = 0;       // that no scheme can beat; finite
  ShallowStyle style;
};

struct ShallowPacking {
  double rate_bps = 0;
  std::vector<HalfTree> halves;     // all different
  std::vector<double> volumes_bps;  // by half tree; on each root both halves sum to the same
  int64_t work = 0;                 // what was spent, as in PackingOptions
};

// Fills a dense overlay with half trees of few levels (shallow_search.h), each of which carries all that it can: prices
// grow with loads as in rough_packing.h, but the loads stay within the capacities, and few trees suffice. Large volumes
// come first, over links with room for them, then ever smaller ones. Each tree takes time of O(nodes^2), where linear
// programs of that size take too long. REQUIRES: the graph has at least two nodes.
ShallowPacking PackShallow(const CapacityGraph& graph, const ShallowPackingOptions& options);

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
