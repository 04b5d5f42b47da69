#include "topology/packing/dense_packing.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "topology/packing/price_search.h"
#include "topology/packing/shallow_packing.h"
#include "topology/packing/simple_prices.h"

namespace banyan {
namespace {

// Smaller overlays are planned by linear programs, which take less than a second there and miss less.
constexpr size_t kFewestNodes = 28;
// Of the links that a full mesh has, the part that there must be.
constexpr double kLeastDensity = 0.25;

// Tried in this order until one comes close enough: the first suits rates that are alike, the next ones nodes some of
// whose links are much faster than the others. Which of these does best there is a matter of chance.
constexpr ShallowStyle kStyles[] = {
    {.levels = 2, .slowness = 0.5, .load = 2, .serving = 3},  {.levels = 4, .slowness = 1, .load = 5, .serving = 3},
    {.levels = 3, .slowness = 1.25, .load = 7, .serving = 1}, {.levels = 4, .slowness = 0.75, .load = 3, .serving = 3},
    {.levels = 4, .slowness = 1.25, .load = 5, .serving = 1}, {.levels = 3, .slowness = 1, .load = 5, .serving = 10},
    {.levels = 4, .slowness = 1.25, .load = 6, .serving = 3}, {.levels = 3, .slowness = 1, .load = 5, .serving = 3},
    {.levels = 4, .slowness = 1, .load = 5, .serving = 1},    {.levels = 3, .slowness = 1.25, .load = 5, .serving = 3},
    {.levels = 3, .slowness = 1, .load = 5, .serving = 1},    {.levels = 4, .slowness = 1.25, .load = 3, .serving = 3},
    {.levels = 4, .slowness = 1, .load = 3, .serving = 1},    {.levels = 2, .slowness = 0.5, .load = 2, .serving = 10}};

// After so much no other style is tried: all together take some seconds at most.
constexpr int64_t kMostWork = int64_t{1} << 30;

// Searches prices that need no packing.
PriceSearch SearchPrices(const CapacityGraph& graph) {
  PriceSearch search(graph);
  for (const std::vector<double>& prices : SimplePrices(graph)) search.Search(prices);
  search.Search(GroupPrices(graph));
  return search;
}

}  // namespace

bool IsDense(const CapacityGraph& graph) {
  const auto nodes = static_cast<double>(graph.nodes());
  return graph.nodes() >= kFewestNodes &&
         static_cast<double>(graph.links().size()) >= kLeastDensity * nodes * (nodes - 1);
}

TreePacking PackDense(const CapacityGraph& graph, const std::vector<size_t>& roots, double accuracy,
                      const std::atomic<bool>* unwanted) {
  TreePacking packing;
  const PriceSearch search = SearchPrices(graph);
  packing.bound_bps = search.bound_bps();
  packing.prices = search.prices();
  for (const ShallowStyle& style : kStyles) {
    if (packing.rate_bps >= (1 - accuracy) * packing.bound_bps || packing.work >= kMostWork) break;
    if (unwanted != nullptr && unwanted->load(std::memory_order_relaxed)) break;
    ShallowPacking tried = PackShallow(graph, {.roots = roots, .bound_bps = packing.bound_bps, .style = style});
    packing.work += tried.work;
    if (tried.rate_bps <= packing.rate_bps) continue;
    packing.rate_bps = tried.rate_bps;
    packing.halves = std::move(tried.halves);
    packing.volumes_bps = std::move(tried.volumes_bps);
  }
  return packing;
}

double DenseBoundBps(const CapacityGraph& graph) { return SearchPrices(graph).bound_bps(); }

}  // namespace banyan
