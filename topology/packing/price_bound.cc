#include "topology/packing/price_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "topology/packing/arborescence.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/infinite.h"

namespace banyan {
namespace {

bool ArePrices(const std::vector<double>& prices, size_t count) {
  return prices.size() == count &&
         std::all_of(prices.begin(), prices.end(), [](double price) { return std::isfinite(price) && price >= 0; });
}

// What a node's cap is worth; a price on a cap that does not exist proves nothing.
double Worth(const std::optional<double>& cap_bps, double price) {
  return price == 0 ? 0 : cap_bps.value_or(kInfinite) * price;
}

}  // namespace

double PriceBoundBps(const NetworkView& view, const CapacityPrices& prices) {
  const size_t nodes = view.nodes().size();
  if (nodes < 2 || !view.CheckConnected().ok()) return kInfinite;
  if (!ArePrices(prices.links, view.links().size()) || !ArePrices(prices.up, nodes) || !ArePrices(prices.down, nodes) ||
      !ArePrices(prices.shared, view.shared().size())) {
    return kInfinite;
  }
  double worth = 0;
  std::vector<Arc> links;
  std::vector<double> costs;
  for (size_t i = 0; i < view.links().size(); ++i) {
    const NetworkLink& link = view.links()[i];
    links.push_back({*view.IndexOf(link.from), *view.IndexOf(link.to)});
    costs.push_back(prices.links[i] + prices.up[links[i].from] + prices.down[links[i].to]);
    for (const size_t shared : view.SharedBy(i)) costs.back() += prices.shared[shared];
    worth += link.throughput_bps * prices.links[i];
  }
  for (size_t i = 0; i < nodes; ++i) {
    worth += Worth(view.nodes()[i].up_cap_bps, prices.up[i]) + Worth(view.nodes()[i].down_cap_bps, prices.down[i]);
  }
  for (size_t i = 0; i < prices.shared.size(); ++i) worth += view.shared()[i].capacity_bps * prices.shared[i];
  ArborescenceFinder to_root(nodes, links, Half::kReduce);
  ArborescenceFinder from_root(nodes, links, Half::kBroadcast);
  to_root.Search(costs);
  from_root.Search(costs);
  double cheapest = kInfinite;
  for (size_t root = 0; root < nodes; ++root) cheapest = std::min(cheapest, to_root.Cost(root) + from_root.Cost(root));
  return cheapest > 0 ? worth / cheapest : kInfinite;
}

}  // namespace banyan
