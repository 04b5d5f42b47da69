#include "topology/packing/price_search.h"

#include <algorithm>
#include <limits>

namespace banyan {

PriceSearch::PriceSearch(const CapacityGraph& graph)
    : graph_(graph),
      to_root_(graph.nodes(), graph.links(), Half::kReduce),
      from_root_(graph.nodes(), graph.links(), Half::kBroadcast),
      bound_bps_(std::numeric_limits<double>::infinity()) {}

void PriceSearch::Search(absl::Span<const double> prices) {
  graph_.LinkCosts(prices, costs_);
  to_root_.Search(costs_);
  from_root_.Search(costs_);
  double worth = 0;
  for (size_t i = 0; i < prices.size(); ++i) {
    // Where there is no cap, the price is 0 and the capacity infinite.
    if (prices[i] > 0) worth += prices[i] * graph_.capacities_bps()[i];
  }
  double cheapest = Cost(0);
  for (size_t root = 1; root < graph_.nodes(); ++root) cheapest = std::min(cheapest, Cost(root));
  if (!(cheapest > 0) || worth / cheapest >= bound_bps_) return;
  bound_bps_ = worth / cheapest;
  prices_.assign(prices.begin(), prices.end());
  for (double& price : prices_) price /= cheapest;
}

}  // namespace banyan
