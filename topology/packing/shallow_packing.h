// Fills a dense overlay with half trees of few levels (shallow_search.h), each of which carries all that it can: prices
// grow with loads as in rough_packing.h, but the loads stay within the capacities, and few trees suffice. Large volumes
// come first, over links with room for them, then ever smaller ones. Each tree takes time of O(nodes^2), where linear
// programs of that size take too long. Pure.
#ifndef BANYAN_TOPOLOGY_PACKING_SHALLOW_PACKING_H_
#define BANYAN_TOPOLOGY_PACKING_SHALLOW_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"

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

// REQUIRES: the graph has at least two nodes.
ShallowPacking PackShallow(const CapacityGraph& graph, const ShallowPackingOptions& options);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_SHALLOW_PACKING_H_
