#include "topology/packing/rate_bound.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "topology/evaluation/simple_bound.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/dense_packing.h"
#include "topology/packing/tree_packing.h"

namespace banyan {
namespace {

// A bound may be this much above the best one.
constexpr double kAccuracy = 1e-3;

// More roots make the packing's program larger; those that are left out make its prices, not its proof, worse.
constexpr size_t kMaxRoots = 150;

using PerNode = std::array<double, kMaxPartitionNodes>;

// One direction: what each node exchanges with the nodes outside its group.
class Crossing {
 public:
  // `rates[a][b]` is what node a sends to (or receives from) node b.
  Crossing(size_t nodes, const std::array<PerNode, kMaxPartitionNodes>& rates, const PerNode& caps)
      : rates_(rates), caps_(caps) {
    outside_.fill(0);
    for (size_t a = 0; a < nodes; ++a) {
      for (size_t b = 0; b < nodes; ++b) outside_[a] += rates_[a][b];
      sum_ += std::min(caps_[a], outside_[a]);
    }
  }

  // Puts a node into the group of others.
  void Join(size_t node, const std::vector<size_t>& group) {
    double inside = 0;
    for (const size_t other : group) {
      Lower(other, rates_[other][node]);
      inside += rates_[node][other];
    }
    Lower(node, inside);
  }

  double sum() const { return sum_; }

 private:
  void Lower(size_t node, double by) {
    sum_ -= std::min(caps_[node], outside_[node]);
    outside_[node] -= by;
    sum_ += std::min(caps_[node], outside_[node]);
  }

  const std::array<PerNode, kMaxPartitionNodes>& rates_;
  const PerNode& caps_;
  PerNode outside_;
  double sum_ = 0;
};

// Puts the nodes into groups one after another; those that have none yet count as groups of their own.
class PartitionSearch {
 public:
  explicit PartitionSearch(const NetworkView& view) : nodes_(view.nodes().size()) {
    for (size_t i = 0; i < nodes_; ++i) {
      sends_[i].fill(0);
      receives_[i].fill(0);
      up_[i] = view.nodes()[i].up_cap_bps.value_or(kInfinite);
      down_[i] = view.nodes()[i].down_cap_bps.value_or(kInfinite);
    }
    for (const NetworkLink& link : view.links()) {
      const size_t from = *view.IndexOf(link.from);
      const size_t to = *view.IndexOf(link.to);
      sends_[from][to] = receives_[to][from] = link.throughput_bps;
    }
  }

  double Bound() {
    Place(0, Crossing(nodes_, sends_, up_), Crossing(nodes_, receives_, down_));
    return bound_bps_;
  }

 private:
  void Place(size_t node, const Crossing& sent, const Crossing& received) {
    if (node == nodes_) {
      if (groups_.size() < 2) return;
      const double crossings = 2 * static_cast<double>(groups_.size() - 1);
      bound_bps_ = std::min(bound_bps_, std::min(sent.sum(), received.sum()) / crossings);
      return;
    }
    for (size_t group = 0; group < groups_.size(); ++group) {
      Crossing sent_now = sent;
      Crossing received_now = received;
      sent_now.Join(node, groups_[group]);
      received_now.Join(node, groups_[group]);
      groups_[group].push_back(node);
      Place(node + 1, sent_now, received_now);
      groups_[group].pop_back();
    }
    groups_.push_back({node});
    Place(node + 1, sent, received);
    groups_.pop_back();
  }

  size_t nodes_;
  std::array<PerNode, kMaxPartitionNodes> sends_;
  std::array<PerNode, kMaxPartitionNodes> receives_;
  PerNode up_;
  PerNode down_;
  std::vector<std::vector<size_t>> groups_;
  double bound_bps_ = kInfinite;
};

}  // namespace

double PartitionBoundBps(const NetworkView& view) {
  const size_t nodes = view.nodes().size();
  if (nodes < 2 || nodes > kMaxPartitionNodes) return kInfinite;
  return PartitionSearch(view).Bound();
}

double RateBoundBps(const NetworkView& view) {
  const double bound_bps = std::min(SimpleBoundBps(view), PartitionBoundBps(view));
  const size_t nodes = view.nodes().size();
  if (nodes < 2 || !view.CheckConnected().ok()) return bound_bps;
  const CapacityGraph graph(view);
  if (IsDense(graph) && nodes > kMostNodesForPrograms) return std::min(bound_bps, DenseBoundBps(graph));
  PackingOptions options{.roots = {}, .seeds = {}, .candidates = {}, .accuracy = kAccuracy, .work = PackingWork(nodes)};
  for (size_t root = 0; root < std::min(nodes, kMaxRoots); ++root) options.roots.push_back(root);
  return std::min(bound_bps, PackTrees(graph, options).bound_bps);
}

}  // namespace banyan
