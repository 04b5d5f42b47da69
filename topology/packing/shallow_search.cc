#include "topology/packing/shallow_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "topology/packing/capacity_graph.h"

namespace banyan {
namespace {

// A sum of costs that is smaller by less is a rounding error.
constexpr double kSearchRounding = 1e-12;

}  // namespace

ShallowSearch::ShallowSearch(const CapacityGraph& graph, size_t levels)
    : graph_(graph),
      nodes_(graph.nodes()),
      levels_(levels),
      parents_(nodes_, 0),
      least_(nodes_, 0),
      children_(nodes_, 0),
      depths_(nodes_, 0) {
  for (Side* side : {&reduce_, &broadcast_}) {
    side->costs.assign(nodes_ * nodes_, kInfinite);
    side->links.assign(nodes_ * nodes_, kNone);
    side->serving.assign(nodes_, 0);
    side->cheapest.assign(nodes_, kInfinite);
    side->is_cheapest_known.assign(nodes_, 1);
  }
  for (size_t link = 0; link < graph.links().size(); ++link) {
    const auto [from, to] = graph.links()[link];
    reduce_.links[to * nodes_ + from] = static_cast<uint32_t>(link);
    broadcast_.links[from * nodes_ + to] = static_cast<uint32_t>(link);
  }
}

void ShallowSearch::SetCost(size_t link, double cost) {
  const auto [from, to] = graph_.links()[link];
  reduce_.costs[to * nodes_ + from] = cost;
  reduce_.is_cheapest_known[from] = 0;
  broadcast_.costs[from * nodes_ + to] = cost;
  broadcast_.is_cheapest_known[to] = 0;
}

void ShallowSearch::SetServingCost(Half half, size_t node, double cost) {
  Side& side = half == Half::kReduce ? reduce_ : broadcast_;
  side.serving[node] = cost;
  std::fill(side.is_cheapest_known.begin(), side.is_cheapest_known.end(), 0);
}

// An outer node's links lie together among those of the other half, where it is the inner one.
void ShallowSearch::FindCheapest(const Side& other, Side& side) const {
  for (size_t outer = 0; outer < nodes_; ++outer) {
    if (side.is_cheapest_known[outer] != 0) continue;
    const double* costs = CostsOf(other, outer);
    double cheapest = kInfinite;
    for (size_t inner = 0; inner < nodes_; ++inner) cheapest = std::min(cheapest, costs[inner] + side.serving[inner]);
    side.cheapest[outer] = cheapest;
    side.is_cheapest_known[outer] = 1;
  }
}

void ShallowSearch::SortNodes(const Side& side, size_t root) {
  const double* to_root = CostsOf(side, root);
  std::vector<std::pair<double, size_t>> excess;
  for (size_t node = 0; node < nodes_; ++node) {
    if (node == root) continue;
    excess.emplace_back(to_root[node] == kInfinite ? kInfinite : to_root[node] - side.cheapest[node], node);
  }
  std::sort(excess.begin(), excess.end());
  order_.clear();
  reachable_ = 0;
  for (const auto& [cost, node] : excess) {
    order_.push_back(node);
    if (cost < kInfinite) ++reachable_;
  }
}

// None are chosen as long as all have links with the root.
size_t ShallowSearch::ChooseDirect(const Side& side, size_t root) {
  const double* to_root = CostsOf(side, root);
  cost_ = 0;
  double rest_at_least = 0;  // what those that are not chosen cost at least
  for (const size_t node : order_) {
    least_[node] = to_root[node] + side.serving[root];
    cost_ += least_[node];
    rest_at_least += side.cheapest[node];
  }
  size_t best = 0;
  double chosen = 0;
  for (size_t i = 0; i < reachable_; ++i) {
    const double* served = CostsOf(side, order_[i]);
    const double serving = side.serving[order_[i]];
    chosen += to_root[order_[i]] + side.serving[root];
    rest_at_least -= side.cheapest[order_[i]];
    if (chosen + rest_at_least >= (1 - kSearchRounding) * cost_) break;  // as would all further choices
    double rest = 0;
    for (size_t j = i + 1; j < order_.size(); ++j) {
      double& least = least_[order_[j]];
      least = std::min(least, served[order_[j]] + serving);
      rest += least;
    }
    if (chosen + rest >= (1 - kSearchRounding) * cost_) continue;
    cost_ = chosen + rest;
    best = i + 1;
  }
  return best;
}

void ShallowSearch::Prefer(const Side& side, size_t inner, size_t node) {
  const double cost = CostsOf(side, inner)[node] + side.serving[inner];
  if (cost >= least_[node]) return;
  least_[node] = cost;
  parents_[node] = inner;
}

void ShallowSearch::Attach(const Side& side, size_t root, size_t direct) {
  const double* to_root = CostsOf(side, root);
  for (const size_t node : order_) {
    parents_[node] = root;
    least_[node] = to_root[node] + side.serving[root];
  }
  for (size_t i = 0; i < direct; ++i) {
    for (size_t j = direct; j < order_.size(); ++j) Prefer(side, order_[i], order_[j]);
  }
  std::fill(children_.begin(), children_.end(), 0);
  for (const size_t node : order_) ++children_[parents_[node]];
}

void ShallowSearch::MoveDirect(const Side& side, size_t root, size_t direct) {
  for (size_t i = direct; i-- > 0;) {
    const size_t node = order_[i];
    if (children_[node] > 0) continue;
    for (size_t j = 0; j < direct; ++j) {
      if (j != i && parents_[order_[j]] == root) Prefer(side, order_[j], node);
    }
    if (parents_[node] == root) continue;
    --children_[root];
    ++children_[parents_[node]];
  }
}

void ShallowSearch::Deepen(const Side& side) {
  for (const size_t node : order_) {
    if (children_[node] > 0 || least_[node] <= side.cheapest[node]) continue;
    const size_t before = parents_[node];
    for (size_t inner = 0; inner < nodes_; ++inner) {
      if (inner != node && depths_[inner] < levels_) Prefer(side, inner, node);
    }
    --children_[before];
    ++children_[parents_[node]];
    depths_[node] = depths_[parents_[node]] + 1;
  }
}

bool ShallowSearch::Find(Half half, size_t root) {
  Side& side = half == Half::kReduce ? reduce_ : broadcast_;
  FindCheapest(half == Half::kReduce ? broadcast_ : reduce_, side);
  for (size_t node = 0; node < nodes_; ++node) {
    if (node != root && side.cheapest[node] == kInfinite) return false;
  }
  SortNodes(side, root);
  const size_t direct = ChooseDirect(side, root);
  if (cost_ == kInfinite) return false;
  Attach(side, root, direct);
  MoveDirect(side, root, direct);
  depths_[root] = 0;
  for (const size_t node : order_) depths_[node] = parents_[node] == root ? 1 : 2;
  if (levels_ > 2) Deepen(side);
  cost_ = 0;
  half_ = {half, root, {}};
  for (const size_t node : order_) {
    cost_ += least_[node];
    half_.links.push_back(side.links[parents_[node] * nodes_ + node]);
  }
  std::sort(half_.links.begin(), half_.links.end());
  return true;
}

}  // namespace banyan
