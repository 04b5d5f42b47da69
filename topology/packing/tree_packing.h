// Half trees and volumes that together come as close to the highest all-reduce rate as one likes, with prices that
// prove how close (price_bound.h). A rough packing (rough_packing.h) gives the first prices and half trees. Then
// follows column generation over the cheapest arborescences (Dantzig and Wolfe 1960, with arborescences as columns). It
// uses the smoothed prices of Wentges ("Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming",
// 1997). Pure.
#ifndef BANYAN_TOPOLOGY_PACKING_TREE_PACKING_H_
#define BANYAN_TOPOLOGY_PACKING_TREE_PACKING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"
#include "topology/packing/price_bound.h"

namespace banyan {

// Returns the work that a packing may cost for `nodes` nodes: about 20 ms for 9, 250 ms for 20, 500 ms for more, on one
// core of 2022.
int64_t PackingWork(size_t nodes);

struct PackingOptions {
  std::vector<size_t> roots;         // that trees may have, ascending
  std::vector<HalfTree> seeds;       // half trees to begin with, whose rate is the least to be reached
  std::vector<HalfTree> candidates;  // half trees to look at as well
  double accuracy = 1e-3;            // the part of the bound that may be missing
  // The work that may be spent: the links that searches look at, and the numbers that the solver changes (some 50 ns
  // each).
  int64_t work = 0;
  // The packing ends with what it has when this becomes true; null: it does not.
  const std::atomic<bool>* unwanted = nullptr;

  // Returns whether `spent` is all that may be spent.
  bool IsSpent(int64_t spent) const {
    return spent >= work || (unwanted != nullptr && unwanted->load(std::memory_order_relaxed));
  }
};

struct TreePacking {
  double rate_bps = 0;
  double seeds_rate_bps = 0;     // what the seeds reach alone, with the best shares
  double bound_bps = 0;          // that no scheme can beat, whatever its roots
  std::vector<double> prices;    // that prove the bound, by number in the graph
  std::vector<HalfTree> halves;  // all that were considered, the seeds first
  std::vector<double> volumes_bps;
  int64_t work = 0;  // what was spent
};

// REQUIRES: the graph has at least two nodes, all of which reach each other, and options.roots is not empty. The rate
// is never below what the seeds allow.
TreePacking PackTrees(const CapacityGraph& graph, const PackingOptions& options);

// The packing's prices, for PriceBoundBps to check.
CapacityPrices CertificateOf(const CapacityGraph& graph, const TreePacking& packing);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_TREE_PACKING_H_
