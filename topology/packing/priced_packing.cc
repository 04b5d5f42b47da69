#include "topology/packing/priced_packing.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/check.h"
#include "topology/packing/arborescence.h"
#include "topology/packing/packing_program.h"

namespace banyan {
namespace {

// How much cheaper than what they pay back both halves for a root must be to be worth adding.
constexpr double kLeastPricedGain = 1e-7;

// Beside money: so little that it only decides between trees that cost the same.
constexpr double kSlownessWeight = 1e-9;

std::vector<double> MoneyCosts(const CapacityGraph& graph, const PriceLimit& limit) {
  const double slowest_bps = *std::min_element(graph.capacities_bps().begin(), graph.capacities_bps().end());
  std::vector<double> costs = limit.link_prices;
  for (size_t i = 0; i < costs.size(); ++i) {
    costs[i] += kSlownessWeight * limit.Scale() * slowest_bps / graph.capacities_bps()[i];
  }
  return costs;
}

// Both halves of the cheapest trees of every root at given costs of links.
class TreeSearch {
 public:
  explicit TreeSearch(const CapacityGraph& graph)
      : to_root_(graph.nodes(), graph.links(), Half::kReduce),
        from_root_(graph.nodes(), graph.links(), Half::kBroadcast) {}

  void Search(const std::vector<double>& costs) {
    to_root_.Search(costs);
    from_root_.Search(costs);
  }
  double Cost(size_t root) const { return to_root_.Cost(root) + from_root_.Cost(root); }
  HalfTree Reduce(size_t root) const { return {Half::kReduce, root, to_root_.Links(root)}; }
  HalfTree Broadcast(size_t root) const { return {Half::kBroadcast, root, from_root_.Links(root)}; }

 private:
  ArborescenceFinder to_root_;
  ArborescenceFinder from_root_;
};

class PricedPacker {
 public:
  PricedPacker(const CapacityGraph& graph, const PackingOptions& options, const PriceLimit& limit,
               TreePacking unlimited)
      : graph_(graph), options_(options), limit_(limit), search_(graph), program_(&graph, unlimited.rate_bps, &limit) {
    packing_.bound_bps = unlimited.bound_bps;
    packing_.prices = std::move(unlimited.prices);
    for (const HalfTree& half : unlimited.halves) Add(half);
    search_.Search(MoneyCosts(graph, limit));
    for (const size_t root : options.roots) AddPair(root);
  }

  TreePacking Run() {
    while (Solve() && !options_.IsSpent(packing_.work) && AddFound()) {
    }
    return std::move(packing_);
  }

 private:
  bool Add(const HalfTree& half) {
    if (!known_.insert(half).second) return false;
    program_.Add(half);
    packing_.halves.push_back(half);
    packing_.volumes_bps.push_back(0);
    return true;
  }

  bool AddPair(size_t root) {
    const bool added = Add(search_.Reduce(root));
    return Add(search_.Broadcast(root)) || added;
  }

  bool Solve() {
    absl::StatusOr<PackingSolution> solution = program_.Solve();
    if (!solution.ok()) return false;
    packing_.work += solution->work;
    packing_.rate_bps = solution->rate_bps;
    packing_.volumes_bps = std::move(solution->volumes_bps);
    graph_.LinkCosts(solution->prices, costs_);
    for (size_t i = 0; i < costs_.size(); ++i) costs_[i] += solution->limit_price * limit_.link_prices[i];
    pays_back_ = 1 + solution->limit_price * limit_.most;
    return true;
  }

  // Adds the cheapest trees at the prices of the last solution that pay back more than they cost. False when there are
  // none: then the packing is the best.
  bool AddFound() {
    search_.Search(costs_);
    bool added = false;
    for (const size_t root : options_.roots) {
      if (search_.Cost(root) < (1 - kLeastPricedGain) * pays_back_) added = AddPair(root) || added;
    }
    return added;
  }

  const CapacityGraph& graph_;
  const PackingOptions& options_;
  const PriceLimit& limit_;
  TreeSearch search_;
  PackingProgram program_;
  TreePacking packing_;
  std::set<HalfTree> known_;
  std::vector<double> costs_;  // of links at the prices of the last solution
  double pays_back_ = 1;       // what a bit of the rate is worth there, with the money that it may cost
};

}  // namespace

CheapestTree FindCheapestTree(const CapacityGraph& graph, const PriceLimit& limit, const std::vector<size_t>& roots) {
  BANYAN_CHECK(!roots.empty());
  TreeSearch search(graph);
  search.Search(MoneyCosts(graph, limit));
  const size_t root = *std::min_element(roots.begin(), roots.end(),
                                        [&](size_t a, size_t b) { return search.Cost(a) < search.Cost(b); });
  CheapestTree cheapest{.reduce = search.Reduce(root), .broadcast = search.Broadcast(root)};
  cheapest.price = limit.PriceOf(cheapest.reduce) + limit.PriceOf(cheapest.broadcast);
  return cheapest;
}

TreePacking PackWithin(const CapacityGraph& graph, const PackingOptions& options, const PriceLimit& limit) {
  TreePacking unlimited = PackTrees(graph, options);
  // Rounding errors defeated the solver.
  if (unlimited.rate_bps <= 0) return unlimited;
  return PricedPacker(graph, options, limit, std::move(unlimited)).Run();
}

}  // namespace banyan
