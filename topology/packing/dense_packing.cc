#include "topology/packing/dense_packing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/price_bound.h"
#include "topology/packing/price_search.h"
#include "topology/packing/shallow_search.h"

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

// Trees carry at most the bound over the number of nodes, so that every node can be a root as often as others. Volumes
// below kLeastVolumePart of that are not worth a tree; each stage takes those above so much of the stage before.
constexpr double kLeastVolumePart = 0.02;
constexpr double kStage = 0.85;
// Closer to the bound there is nothing to gain.
constexpr double kVolumeRounding = 1e-6;

// A root's trees may cost so much more than what those of another root cost when they were last looked for.
constexpr double kClose = 0.4;

// How fast the price of a node's serving grows when it is ahead of the others.
constexpr double kSharpness = 10;
// Of what a node can send or take, the least part that is counted as left for serving.
constexpr double kLeastServing = 0.02;

// Searches look at each link about twice; as in PackingOptions a unit takes some nanoseconds.
constexpr int64_t kWorkPerLink = 2;

class ShallowPacker {
 public:
  ShallowPacker(const CapacityGraph& graph, const ShallowPackingOptions& options)
      : graph_(graph),
        options_(options),
        most_bps_(options.bound_bps / static_cast<double>(graph.nodes())),
        search_(graph, options.style.levels),
        room_bps_(graph.capacities_bps()),
        counts_(room_bps_.size(), 0),
        served_bps_(room_bps_.size(), 0),
        costs_(options.roots.size(), 0) {
    PriceLinks();
    CountServing();
  }

  ShallowPacking Run() {
    for (least_bps_ = most_bps_; least_bps_ >= kLeastVolumePart * most_bps_ && GoesOn(); least_bps_ *= kStage) {
      for (size_t link = 0; link < graph_.links().size(); ++link) SetCost(link);
      is_stuck_.assign(options_.roots.size(), false);
      while (GoesOn() && TakeNext()) {
      }
    }
    return std::move(packing_);
  }

 private:
  struct Pair {
    HalfTree reduce;
    HalfTree broadcast;
    double cost = 0;
  };

  bool GoesOn() const { return packing_.rate_bps < (1 - kVolumeRounding) * options_.bound_bps; }

  void PriceLinks() {
    const auto links = static_cast<std::ptrdiff_t>(graph_.links().size());
    mean_bps_ = std::accumulate(room_bps_.begin(), room_bps_.begin() + links, 0.0) / static_cast<double>(links);
    for (const double capacity_bps : room_bps_) {
      prices_.push_back(std::pow(mean_bps_ / capacity_bps, options_.style.slowness));
    }
    has_caps_ = std::any_of(room_bps_.begin() + links, room_bps_.end(), [](double cap) { return std::isfinite(cap); });
  }

  // What nodes can send and take beyond what they must, since each sends and takes every bit of the model once.
  void CountServing() {
    serving_bps_.assign(room_bps_.size(), 0);
    for (size_t link = 0; link < graph_.links().size(); ++link) {
      serving_bps_[graph_.Up(graph_.links()[link].from)] += room_bps_[link];
      serving_bps_[graph_.Down(graph_.links()[link].to)] += room_bps_[link];
    }
    for (size_t i = graph_.links().size(); i < room_bps_.size(); ++i) {
      const double all_bps = std::min(serving_bps_[i], room_bps_[i]);
      serving_bps_[i] = std::max(all_bps - options_.bound_bps, kLeastServing * all_bps);
    }
  }

  void SetCost(size_t link) {
    double cost = 0;
    graph_.ForEachLoaded(link,
                         [&](size_t number) { cost += room_bps_[number] >= least_bps_ ? prices_[number] : kInfinite; });
    search_.SetCost(link, cost);
  }

  // So that no node has served all it can long before the others, when nothing can be sent to it or by it any more.
  void PriceServing() {
    const double done = packing_.rate_bps / options_.bound_bps;
    const auto price = [&](size_t number) {
      return options_.style.serving * std::exp(kSharpness * (served_bps_[number] / serving_bps_[number] - done));
    };
    for (size_t node = 0; node < graph_.nodes(); ++node) {
      search_.SetServingCost(Half::kReduce, node, price(graph_.Down(node)));
      search_.SetServingCost(Half::kBroadcast, node, price(graph_.Up(node)));
    }
  }

  bool Find(size_t root, Pair& pair) {
    const int64_t work = kWorkPerLink * static_cast<int64_t>(graph_.links().size());
    packing_.work += work;
    if (!search_.Find(Half::kReduce, root)) return false;
    pair = {search_.half(), {}, search_.cost()};
    packing_.work += work;
    if (!search_.Find(Half::kBroadcast, root)) return false;
    pair.broadcast = search_.half();
    pair.cost += search_.cost();
    return true;
  }

  // Takes a pair of a root whose trees are among the cheapest; false when no root has any that carry enough.
  bool TakeNext() {
    while (true) {
      const auto [cheapest, second] = CheapestRoots();
      if (cheapest == costs_.size()) return false;
      Pair pair;
      const double volume_bps = Find(options_.roots[cheapest], pair) ? VolumeOf(pair) : 0;
      is_stuck_[cheapest] = volume_bps < least_bps_;
      if (is_stuck_[cheapest]) continue;
      costs_[cheapest] = pair.cost;
      if (second < costs_.size() && pair.cost > (1 + kClose) * costs_[second]) continue;
      Take(std::move(pair), volume_bps);
      return true;
    }
  }

  // The positions of the two roots whose trees cost the least when they were last looked for; the number of roots where
  // there is none.
  std::pair<size_t, size_t> CheapestRoots() const {
    size_t cheapest = costs_.size();
    size_t second = costs_.size();
    for (size_t i = 0; i < costs_.size(); ++i) {
      if (is_stuck_[i]) continue;
      if (cheapest == costs_.size() || costs_[i] < costs_[cheapest]) {
        second = std::exchange(cheapest, i);
      } else if (second == costs_.size() || costs_[i] < costs_[second]) {
        second = i;
      }
    }
    return {cheapest, second};
  }

  // Counts what the pair loads how often.
  double VolumeOf(const Pair& pair) {
    for (const size_t number : loaded_) counts_[number] = 0;
    loaded_.clear();
    const auto count = [this](size_t number) {
      if (counts_[number]++ == 0) loaded_.push_back(number);
    };
    for (const HalfTree* half : {&pair.reduce, &pair.broadcast}) {
      for (const size_t link : half->links) graph_.ForEachLoaded(link, count);
    }
    double volume_bps = most_bps_;
    for (const size_t number : loaded_) volume_bps = std::min(volume_bps, room_bps_[number] / counts_[number]);
    return volume_bps;
  }

  // REQUIRES: VolumeOf has counted the pair's loads.
  void Take(Pair pair, double volume_bps) {
    packing_.rate_bps += volume_bps;
    for (const size_t number : loaded_) {
      room_bps_[number] -= counts_[number] * volume_bps;
      prices_[number] *= 1 + options_.style.load * counts_[number] * volume_bps / graph_.capacities_bps()[number];
    }
    const size_t links = graph_.links().size();
    for (size_t link = 0; has_caps_ && link < links; ++link) SetCost(link);
    for (const size_t number : loaded_) {
      if (number < links) SetCost(number);
    }
    for (const size_t link : pair.reduce.links) served_bps_[graph_.Down(graph_.links()[link].to)] += volume_bps;
    for (const size_t link : pair.broadcast.links) served_bps_[graph_.Up(graph_.links()[link].from)] += volume_bps;
    PriceServing();
    Add(std::move(pair.reduce), volume_bps);
    Add(std::move(pair.broadcast), volume_bps);
  }

  void Add(HalfTree half, double volume_bps) {
    const auto [known, is_new] = numbers_.emplace(std::move(half), packing_.halves.size());
    if (is_new) {
      packing_.halves.push_back(known->first);
      packing_.volumes_bps.push_back(0);
    }
    packing_.volumes_bps[known->second] += volume_bps;
  }

  const CapacityGraph& graph_;
  const ShallowPackingOptions& options_;
  const double most_bps_;  // that a tree carries
  ShallowSearch search_;
  ShallowPacking packing_;
  std::map<HalfTree, size_t> numbers_;
  double mean_bps_ = 0;
  double least_bps_ = 0;  // that a tree carries in this stage
  bool has_caps_ = false;
  // By number in the graph: what is left, its price, how often the last pair loads it, what serving has loaded, and
  // what it may load.
  std::vector<double> room_bps_;
  std::vector<double> prices_;
  std::vector<double> counts_;
  std::vector<size_t> loaded_;  // those with counts
  std::vector<double> served_bps_;
  std::vector<double> serving_bps_;
  // By root: what its trees cost when they were last looked for, and whether this stage has none.
  std::vector<double> costs_;
  std::vector<bool> is_stuck_;
};

}  // namespace

ShallowPacking PackShallow(const CapacityGraph& graph, const ShallowPackingOptions& options) {
  BANYAN_CHECK(graph.nodes() >= 2 && !options.roots.empty() && std::isfinite(options.bound_bps));
  return ShallowPacker(graph, options).Run();
}

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
