#include "tools/wan_benchmark/ring_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "wan/hop_routes.h"

namespace banyan {
namespace {

// 8! orders, since a ring may begin anywhere.
constexpr size_t kMostTriedNodes = 9;

// Rates and routes by position, which many orders share.
class RingRates {
 public:
  explicit RingRates(const NetworkView& view) : nodes_(view.nodes().size()), rates_(nodes_ * nodes_, 0) {
    std::map<NodeId, size_t> positions;
    for (size_t i = 0; i < nodes_; ++i) positions[view.nodes()[i].id] = i;
    for (const NetworkLink& link : view.links()) {
      rates_[positions.at(link.from) * nodes_ + positions.at(link.to)] = link.throughput_bps;
    }
    for (size_t i = 0; i < nodes_; ++i) routes_.push_back(HopRoutesFrom(view, i));
  }

  double RateBps(const std::vector<size_t>& order) {
    loads_.assign(rates_.size(), 0);
    for (size_t i = 0; i < nodes_; ++i) {
      const std::vector<size_t>& route = routes_[order[i]][order[(i + 1) % nodes_]];
      if (route.empty()) return 0;
      for (size_t hop = 0; hop + 1 < route.size(); ++hop) ++loads_[route[hop] * nodes_ + route[hop + 1]];
    }
    double least_bps = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < loads_.size(); ++i) {
      if (loads_[i] > 0) least_bps = std::min(least_bps, rates_[i] / loads_[i]);
    }
    return least_bps * static_cast<double>(nodes_) / (2.0 * static_cast<double>(nodes_ - 1));
  }

 private:
  const size_t nodes_;
  std::vector<double> rates_;  // of links, by from * nodes_ + to
  std::vector<std::vector<std::vector<size_t>>> routes_;
  std::vector<int> loads_;
};

std::vector<size_t> TryAll(RingRates& rates, std::vector<size_t> order) {
  std::vector<size_t> best = order;
  double best_bps = rates.RateBps(order);
  while (std::next_permutation(order.begin() + 1, order.end())) {
    const double rate_bps = rates.RateBps(order);
    if (rate_bps <= best_bps) continue;
    best_bps = rate_bps;
    best = order;
  }
  return best;
}

// Whether some swap has made it better.
bool Improve(RingRates& rates, std::vector<size_t>& order) {
  const double before_bps = rates.RateBps(order);
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size(); ++j) {
      std::swap(order[i], order[j]);
      if (rates.RateBps(order) > before_bps) return true;
      std::swap(order[i], order[j]);
    }
  }
  return false;
}

}  // namespace

double RingRateBps(const NetworkView& view, const std::vector<size_t>& order) { return RingRates(view).RateBps(order); }

std::vector<size_t> BestRingOrder(const NetworkView& view) {
  std::vector<size_t> order(view.nodes().size());
  std::iota(order.begin(), order.end(), size_t{0});
  RingRates rates(view);
  if (order.size() <= kMostTriedNodes) return TryAll(rates, std::move(order));
  while (Improve(rates, order)) {
  }
  return order;
}

}  // namespace banyan
