// Prices that are close to the best, and half trees that go well with them, in little time: the multiplicative weights
// of Garg and Koenemann ("Faster and simpler algorithms for multicommodity flow and other fractional packing problems",
// 1998). It needs thousands of steps, each of which is a search for arborescences; the exact way (tree_packing.h) needs
// few, each of which is a linear program, and fewer when it starts from here. Pure.
#ifndef BANYAN_TOPOLOGY_PACKING_ROUGH_PACKING_H_
#define BANYAN_TOPOLOGY_PACKING_ROUGH_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"
#include "topology/packing/price_search.h"

namespace banyan {

struct RoughPackingOptions {
  std::vector<size_t> roots;  // that trees may have, ascending; not empty
  double step = 0.1;          // by which part a price grows when its link is filled once
  double accuracy = 0.05;     // the part of the bound that may be missing
  int64_t work = 0;           // as in PackingOptions; one step is taken at least
  size_t halves = 0;          // how many half trees to return
};

struct RoughPacking {
  double rate_bps = 0;
  std::vector<HalfTree> halves;  // those that were used last, in order; all different
  int64_t work = 0;              // what was spent
};

// Leaves the bound, which no scheme can beat whatever its roots, and the prices that prove it in `search`, which is of
// the same graph. REQUIRES: the graph has at least two nodes, all of which reach each other.
RoughPacking PackRoughly(const CapacityGraph& graph, const RoughPackingOptions& options, PriceSearch& search);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_ROUGH_PACKING_H_
