#include "topology/planners/tree_delay.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/functional/function_ref.h"

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

}  // namespace banyan
