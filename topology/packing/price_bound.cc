#include "topology/packing/price_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "topology/packing/arborescence.h"
#include "topology/packing/capacity_graph.h"

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

// Nodes in groups, each alone at first.
class Groups {
 public:
  explicit Groups(size_t nodes) : group_of_(nodes) { std::iota(group_of_.begin(), group_of_.end(), size_t{0}); }

  size_t Of(size_t node) {
    while (group_of_[node] != node) node = group_of_[node] = group_of_[group_of_[node]];
    return node;
  }
  void Join(size_t group, size_t into) { group_of_[group] = into; }

 private:
  std::vector<size_t> group_of_;
};

// Joins nodes along the fastest links first.
class Joining {
 public:
  explicit Joining(const CapacityGraph& graph)
      : nodes_(graph.nodes()), groups_(nodes_), between_bps_(nodes_ * nodes_, 0) {
    for (size_t i = 0; i < graph.links().size(); ++i) {
      const auto [from, to] = graph.links()[i];
      between_bps_[from * nodes_ + to] += graph.capacities_bps()[i];
      between_bps_[to * nodes_ + from] += graph.capacities_bps()[i];
      all_bps_ += graph.capacities_bps()[i];
    }
    for (size_t a = 0; a < nodes_; ++a) {
      for (size_t b = a + 1; b < nodes_; ++b) order_.emplace_back(-between_bps_[a * nodes_ + b], a, b);
    }
    std::sort(order_.begin(), order_.end());
  }

  // Returns the groups that prove the least bound on the way to a single one.
  Groups BestGroups() {
    Groups best = groups_;
    size_t left = nodes_;
    double least_bps = std::numeric_limits<double>::infinity();
    for (const auto& [negative_bps, a, b] : order_) {
      const double bound_bps = all_bps_ / (2 * static_cast<double>(left - 1));
      if (bound_bps < least_bps) {
        least_bps = bound_bps;
        best = groups_;
      }
      if (Join(a, b) && --left == 1) break;
    }
    return best;
  }

 private:
  bool Join(size_t a, size_t b) {
    const size_t into = groups_.Of(a);
    const size_t other = groups_.Of(b);
    if (into == other) return false;
    all_bps_ -= between_bps_[into * nodes_ + other];
    for (size_t third = 0; third < nodes_; ++third) {
      const double sum_bps = between_bps_[into * nodes_ + third] + between_bps_[other * nodes_ + third];
      between_bps_[into * nodes_ + third] = between_bps_[third * nodes_ + into] = sum_bps;
    }
    groups_.Join(other, into);
    return true;
  }

  const size_t nodes_;
  Groups groups_;
  std::vector<double> between_bps_;  // by two groups, each named by one of its nodes
  double all_bps_ = 0;               // between all groups
  std::vector<std::tuple<double, size_t, size_t>> order_;
};

}  // namespace

std::vector<std::vector<double>> SimplePrices(const CapacityGraph& graph) {
  const std::vector<double>& capacities_bps = graph.capacities_bps();
  std::vector<double> alike(capacities_bps.size(), 0);
  std::fill(alike.begin(), alike.begin() + static_cast<std::ptrdiff_t>(graph.links().size()), 1);
  std::vector<double> sums_bps(capacities_bps.size(), 0);  // of the links of each node, either way
  for (size_t i = 0; i < graph.links().size(); ++i) {
    sums_bps[graph.Up(graph.links()[i].from)] += capacities_bps[i];
    sums_bps[graph.Down(graph.links()[i].to)] += capacities_bps[i];
  }
  const auto can = [&](size_t number) { return std::min(sums_bps[number], capacities_bps[number]); };
  size_t least = graph.Up(0);
  for (size_t number = least; number < graph.Shared(); ++number) {
    if (can(number) < can(least)) least = number;
  }
  std::vector<double> narrow(capacities_bps.size(), 0);
  if (capacities_bps[least] <= sums_bps[least]) narrow[least] = 1;
  for (size_t i = 0; i < graph.links().size() && narrow[least] == 0; ++i) {
    if (graph.Up(graph.links()[i].from) == least || graph.Down(graph.links()[i].to) == least) narrow[i] = 1;
  }
  return {alike, narrow};
}

std::vector<double> GroupPrices(const CapacityGraph& graph) {
  Groups groups = Joining(graph).BestGroups();
  std::vector<double> prices(graph.capacities_bps().size(), 0);
  for (size_t i = 0; i < graph.links().size(); ++i) {
    prices[i] = groups.Of(graph.links()[i].from) == groups.Of(graph.links()[i].to) ? 0 : 1;
  }
  return prices;
}

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
