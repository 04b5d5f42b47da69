#include "topology/fit/price_fit.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "topology/fit/share_rounding.h"

namespace banyan {
namespace {

constexpr double kBytesPerGb = 1e9;
constexpr double kBitsPerByte = 8;

using Edge = std::pair<NodeId, NodeId>;

// Nothing crosses a link that has vanished.
double PathPrice(const std::vector<NodeId>& path, const NetworkView& view) {
  double price = 0;
  for (size_t i = 1; i < path.size(); ++i) {
    const NetworkLink* const link = view.FindLink(path[i - 1], path[i]);
    price += link == nullptr ? 0 : link->price_per_gb;
  }
  return price;
}

// What 10^9 bytes over tree edges cost.
class EdgePrices {
 public:
  EdgePrices(const Policy& policy, const NetworkView& view) : view_(view) {
    for (const Route& route : policy.routes) routed_[{route.from, route.to}] = PathPrice(route.path, view);
    for (const Route& path : policy.auxiliary) {
      const Edge edge = {path.from, path.to};
      auxiliary_[edge] += path.share * (PathPrice(path.path, view) - OfPrimary(edge));
    }
  }

  double OfPrimary(const Edge& edge) const {
    const auto routed = routed_.find(edge);
    return routed != routed_.end() ? routed->second : PathPrice({edge.first, edge.second}, view_);
  }

  double Of(NodeId from, NodeId to) const {
    const auto auxiliary = auxiliary_.find({from, to});
    return OfPrimary({from, to}) + (auxiliary == auxiliary_.end() ? 0 : auxiliary->second);
  }

  double OfTree(const Tree& tree) const {
    double price = 0;
    for (const auto& [node, parent] : tree.reduce_parent) price += Of(node, parent);
    for (const auto& [node, parent] : tree.broadcast_parent) price += Of(parent, node);
    return price;
  }

 private:
  const NetworkView& view_;
  std::map<Edge, double> routed_;
  std::map<Edge, double> auxiliary_;  // what the parts on auxiliary paths cost more
};

std::vector<double> TreePrices(const Policy& policy, const NetworkView& view) {
  const EdgePrices edges(policy, view);
  std::vector<double> prices;
  for (const Tree& tree : policy.trees) prices.push_back(edges.OfTree(tree));
  return prices;
}

// What is moved at a time at least: a chunk, in shares.
double ChunkShare(const Policy& policy, const std::vector<PlannedTensor>& tensors) {
  const double chunk_bits = WidestElementBits(tensors) * static_cast<double>(policy.chunk_max_elements);
  return std::min(1.0, chunk_bits / BitsOf(tensors));
}

// Moves a share between two trees; the first goes when it has nothing left.
void MoveShare(size_t from, size_t to, double share, Policy& policy, std::vector<double>& prices) {
  const double moved = std::min(share, policy.trees[from].share);
  policy.trees[from].share -= moved;
  policy.trees[to].share += moved;
  if (policy.trees[from].share > kBudgetRounding) return;
  policy.trees[to].share += policy.trees[from].share;
  policy.trees.erase(policy.trees.begin() + static_cast<ptrdiff_t>(from));
  prices.erase(prices.begin() + static_cast<ptrdiff_t>(from));
}

// Removes the paths of edges that no tree has any more.
void DropPathsWithoutEdge(Policy& policy) {
  std::map<Edge, bool> edges;
  for (const Tree& tree : policy.trees) {
    for (const auto& [node, parent] : tree.reduce_parent) edges[{node, parent}] = true;
    for (const auto& [node, parent] : tree.broadcast_parent) edges[{parent, node}] = true;
  }
  for (std::vector<Route>* paths : {&policy.routes, &policy.auxiliary}) {
    std::erase_if(*paths, [&edges](const Route& path) { return edges.count({path.from, path.to}) == 0; });
  }
}

double Sum(const std::vector<double>& shares, const std::vector<double>& prices) {
  return std::inner_product(shares.begin(), shares.end(), prices.begin(), 0.0);
}

}  // namespace

double ModelGigabytes(const std::vector<PlannedTensor>& tensors) {
  return BitsOf(tensors) / kBitsPerByte / kBytesPerGb;
}

double PricePerGb(const Policy& policy, const NetworkView& view) {
  std::vector<double> shares;
  for (const Tree& tree : policy.trees) shares.push_back(tree.share);
  return Sum(shares, TreePrices(policy, view));
}

double RoundPrice(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors) {
  return ModelGigabytes(tensors) * Sum(ChunkedShares(policy, tensors), TreePrices(policy, view));
}

bool HoldPrice(const NetworkView& view, const std::vector<PlannedTensor>& tensors, double budget, Policy& policy) {
  const double most_per_gb = (1 + kBudgetRounding) * budget / ModelGigabytes(tensors);
  const double chunk_share = ChunkShare(policy, tensors);
  std::vector<double> prices = TreePrices(policy, view);
  bool holds = false;
  while (true) {
    const double over = Sum(ChunkedShares(policy, tensors), prices) - most_per_gb;
    holds = over <= 0;
    const auto [cheapest, dearest] = std::minmax_element(prices.begin(), prices.end());
    if (holds || *dearest <= (1 + kBudgetRounding) * *cheapest) break;
    MoveShare(static_cast<size_t>(dearest - prices.begin()), static_cast<size_t>(cheapest - prices.begin()),
              std::max(chunk_share, over / (*dearest - *cheapest)), policy, prices);
  }
  DropPathsWithoutEdge(policy);
  return holds;
}

void DropDearPaths(const NetworkView& view, Policy& policy) {
  const EdgePrices edges(policy, view);
  std::erase_if(policy.auxiliary, [&](const Route& path) {
    return PathPrice(path.path, view) > (1 + kBudgetRounding) * edges.OfPrimary({path.from, path.to});
  });
}

}  // namespace banyan
