// Looks at prices of a graph's capacities: which arborescences are the cheapest at them, and which bound on the rate
// they prove (price_bound.h says why). Thread-compatible; lives as long as one packing.
#ifndef BANYAN_TOPOLOGY_PACKING_PRICE_SEARCH_H_
#define BANYAN_TOPOLOGY_PACKING_PRICE_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "topology/packing/arborescence.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"

namespace banyan {

class PriceSearch {
 public:
  // `graph` outlives this.
  explicit PriceSearch(const CapacityGraph& graph);

  // Finds the cheapest arborescences of all roots; keeps the prices when their bound is the best so far.
  void Search(absl::Span<const double> prices);

  // Return both halves that the last search found for `root`, and what they cost together.
  HalfTree Reduce(size_t root) const { return {Half::kReduce, root, to_root_.Links(root)}; }
  HalfTree Broadcast(size_t root) const { return {Half::kBroadcast, root, from_root_.Links(root)}; }
  double Cost(size_t root) const { return to_root_.Cost(root) + from_root_.Cost(root); }

  // Return the least bound of all searches, infinite before one proves any, and the prices that prove it. Prices are
  // scaled so that the cheapest pair of halves costs 1.
  double bound_bps() const { return bound_bps_; }
  const std::vector<double>& prices() const { return prices_; }
  // Returns the work that a search spends: about the links that it looks at.
  int64_t work_per_search() const { return 4 * static_cast<int64_t>(graph_.links().size()); }

 private:
  const CapacityGraph& graph_;
  ArborescenceFinder to_root_;
  ArborescenceFinder from_root_;
  std::vector<double> costs_;  // of links at the prices of the last search
  double bound_bps_;
  std::vector<double> prices_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_PRICE_SEARCH_H_
