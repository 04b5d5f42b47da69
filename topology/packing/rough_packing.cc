#include "topology/packing/rough_packing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/check.h"
#include "topology/packing/capacity_graph.h"

namespace banyan {
namespace {

// Prices mean the same in any unit; they are made smaller before they leave the range of numbers.
constexpr double kMostPrice = 1e200;

class RoughPacker {
 public:
  RoughPacker(const CapacityGraph& graph, const RoughPackingOptions& options, PriceSearch& search)
      : graph_(graph),
        options_(options),
        search_(search),
        loads_(graph.capacities_bps().size(), 0),
        counts_(graph.capacities_bps().size(), 0) {
    for (const double capacity_bps : graph.capacities_bps()) prices_.push_back(1 / capacity_bps);
  }

  RoughPacking Run() {
    do {
      Step();
    } while (packing_.work < options_.work && packing_.rate_bps < (1 - options_.accuracy) * search_.bound_bps());
    TakeLatest();
    return std::move(packing_);
  }

 private:
  // Fills the cheapest pair of half trees once and raises the prices of what it loads.
  void Step() {
    search_.Search(prices_);
    packing_.work += search_.work_per_search();
    size_t best = options_.roots.front();
    for (const size_t root : options_.roots) {
      if (search_.Cost(root) < search_.Cost(best)) best = root;
    }
    used_.push_back(search_.Reduce(best));
    used_.push_back(search_.Broadcast(best));
    Fill(used_[used_.size() - 2], used_.back());
  }

  void Fill(const HalfTree& reduce, const HalfTree& broadcast) {
    std::fill(counts_.begin(), counts_.end(), 0);
    graph_.AddLoad(reduce.links, 1, counts_);
    graph_.AddLoad(broadcast.links, 1, counts_);
    double volume_bps = kInfinite;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) volume_bps = std::min(volume_bps, graph_.capacities_bps()[i] / counts_[i]);
    }
    volume_bps_ += volume_bps;
    double most_load = 0;
    double most_price = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      loads_[i] += counts_[i] * volume_bps / graph_.capacities_bps()[i];
      prices_[i] *= 1 + options_.step * counts_[i] * volume_bps / graph_.capacities_bps()[i];
      most_load = std::max(most_load, loads_[i]);
      most_price = std::max(most_price, prices_[i]);
    }
    packing_.rate_bps = volume_bps_ / most_load;
    if (most_price < kMostPrice) return;
    for (double& price : prices_) price /= most_price;
  }

  void TakeLatest() {
    std::set<HalfTree> known;
    while (!used_.empty() && packing_.halves.size() < options_.halves) {
      if (known.insert(used_.back()).second) packing_.halves.push_back(std::move(used_.back()));
      used_.pop_back();
    }
    std::reverse(packing_.halves.begin(), packing_.halves.end());
  }

  const CapacityGraph& graph_;
  const RoughPackingOptions& options_;
  PriceSearch& search_;
  RoughPacking packing_;
  std::vector<HalfTree> used_;  // in order
  std::vector<double> prices_;
  std::vector<double> loads_;   // what fills a capacity once counts 1
  std::vector<double> counts_;  // how often the last pair loads what
  double volume_bps_ = 0;
};

}  // namespace

RoughPacking PackRoughly(const CapacityGraph& graph, const RoughPackingOptions& options, PriceSearch& search) {
  BANYAN_CHECK(graph.nodes() >= 2 && !options.roots.empty());
  return RoughPacker(graph, options, search).Run();
}

}  // namespace banyan
