#include "topology/planners/route_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/functional/function_ref.h"
#include "core/check.h"

namespace banyan {
namespace {

// `edge_delay(node, parent)` is the delay between them in the half's direction.
double SlowestPath(const Tree& tree, const std::map<NodeId, NodeId>& parent_of,
                   absl::FunctionRef<double(NodeId node, NodeId parent)> edge_delay) {
  std::map<NodeId, double> delay = {{tree.root, 0.0}};
  double slowest = 0;
  for (const auto& [start, unused_parent] : parent_of) {
    std::vector<NodeId> unknown;
    for (NodeId at = start; delay.count(at) == 0; at = parent_of.at(at)) unknown.push_back(at);
    for (auto node = unknown.rbegin(); node != unknown.rend(); ++node) {
      const NodeId parent = parent_of.at(*node);
      const double total = delay.at(parent) + edge_delay(*node, parent);
      delay[*node] = total;
      slowest = std::max(slowest, total);
    }
  }
  return slowest;
}

}  // namespace

TreeDelay DelayOf(const Tree& tree, RouteTable& routes) {
  TreeDelay delay;
  delay.reduce = SlowestPath(tree, tree.reduce_parent,
                             [&routes](NodeId node, NodeId parent) { return routes.Delay(node, parent); });
  delay.broadcast = SlowestPath(tree, tree.broadcast_parent,
                                [&routes](NodeId node, NodeId parent) { return routes.Delay(parent, node); });
  return delay;
}

RouteTable::RouteTable(const NetworkView* view) : view_(view), searcher_(*view), trees_(view->nodes().size()) {}

const ShortestPathTree& RouteTable::PathsFrom(NodeId source) {
  const size_t index = *view_->IndexOf(source);
  ShortestPathTree& tree = trees_[index];
  if (tree.parent.empty()) tree = searcher_.FromRoot(index);
  return tree;
}

Route RouteTable::Find(NodeId from, NodeId to) {
  Route route{from, to, {from, to}};
  if (from == to || view_->FindLink(from, to) != nullptr) return route;
  const ShortestPathTree& paths = PathsFrom(from);
  const size_t source = *view_->IndexOf(from);
  route.path.clear();
  for (size_t at = *view_->IndexOf(to); at != source; at = paths.parent[at]) {
    BANYAN_CHECK(std::isfinite(paths.distance[at]));
    route.path.push_back(view_->nodes()[at].id);
  }
  route.path.push_back(from);
  std::reverse(route.path.begin(), route.path.end());
  return route;
}

double RouteTable::Delay(NodeId from, NodeId to) {
  if (from == to) return 0;
  if (const NetworkLink* link = view_->FindLink(from, to); link != nullptr) return 1 / link->throughput_bps;
  return PathsFrom(from).distance[*view_->IndexOf(to)];
}

}  // namespace banyan
