// From a packing to a plan: few trees with little delay at almost the packing's rate. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_PACKED_TREES_H_
#define BANYAN_TOPOLOGY_PACKING_PACKED_TREES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "topology/packing/arborescence.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"
#include "topology/packing/tree_packing.h"

namespace banyan {

// Returns the slowest path between the root and any node, when each link takes `delays`, by link.
double DelayOfHalf(const CapacityGraph& graph, const HalfTree& half, absl::Span<const double> delays);

// Grows a half tree that trades what its links cost for little delay, from its root, each time by the link with the
// least cost plus `weight` times the delay of the whole path. Weight 0 gives a tree of cheap links, a large weight that
// of the fastest paths. This is the method of Alpert and others, "Prim-Dijkstra tradeoffs for improved
// performance-driven routing tree design", 1995. Ties go to the lower link. REQUIRES: the graph is connected in both
// directions.
HalfTree GrowHalf(const CapacityGraph& graph, Half half, size_t root, absl::Span<const double> costs,
                  absl::Span<const double> delays, double weight);

struct SelectionOptions {
  double rate_bps = 0;                // what the selection must reach; at most the packing's rate
  std::vector<double> delays;         // by link, in seconds: what a chunk needs to get over it
  int64_t work = 0;                   // what may be spent, as in PackingOptions
  const PriceLimit* limit = nullptr;  // what the selection may cost; the packing costs no more
  // The selection ends with what it has when this becomes true; null: it does not.
  const std::atomic<bool>* unwanted = nullptr;

  // Returns whether `spent` is all that may be spent.
  bool IsSpent(int64_t spent) const {
    return spent >= work || (unwanted != nullptr && unwanted->load(std::memory_order_relaxed));
  }
};

// Half trees with volumes above 0; on each root both halves sum to the same.
struct Selection {
  std::vector<HalfTree> halves;
  std::vector<double> volumes_bps;
  std::vector<double> delays_s;  // their slowest paths
};

// Selects from the half trees of `packing`, and from shallow ones that it looks for, those that reach the rate with the
// least delay. Each counts by its volume and its slowest path. Then takes as few of them as can still reach the rate,
// as far as the work in `options` allows.
Selection SelectHalves(const CapacityGraph& graph, const TreePacking& packing, const SelectionOptions& options);

// A reduce half and a broadcast half of the same root.
struct HalfPair {
  size_t reduce = 0;  // positions in Selection::halves
  size_t broadcast = 0;
  double volume_bps = 0;
};

// Pairs what is reduced on a root with what is broadcast from it, the slowest with the fastest. So no tree has two slow
// halves where that can be helped. Each root has at most one pair less than it has half trees.
std::vector<HalfPair> PairHalves(const Selection& selection);

// Pairs the half trees of a packing that are shallow already: what is reduced on a root with what is broadcast from it,
// the largest volumes with each other, so that few are split. Returns the largest pairs that sum to `rate_bps`, the
// largest first, or all pairs. Positions are those in packing.halves.
std::vector<HalfPair> LargestPairs(const TreePacking& packing, double rate_bps);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_PACKED_TREES_H_
