#include "scheduler/transfer/holder_paths.h"

#include <cstddef>
#include <deque>
#include <set>
#include <utility>

namespace banyan {
namespace {

using Neighbours = std::map<NodeId, std::set<NodeId>>;
using Edges = std::set<std::pair<NodeId, NodeId>>;

void AddNeighbours(NodeId a, NodeId b, Neighbours& neighbours) {
  neighbours[a].insert(b);
  neighbours[b].insert(a);
}

void JoinHops(const std::vector<Route>& routes, Neighbours& neighbours) {
  for (const Route& route : routes) {
    for (size_t i = 1; i < route.path.size(); ++i) AddNeighbours(route.path[i - 1], route.path[i], neighbours);
  }
}

Neighbours NeighboursIn(const Policy& policy) {
  Neighbours neighbours;
  Edges routed;  // tree edges that are no links
  for (const Route& route : policy.routes) routed.emplace(route.from, route.to);
  for (const Tree& tree : policy.trees) {
    for (const auto& [node, parent] : tree.reduce_parent) {
      if (routed.count({node, parent}) == 0) AddNeighbours(node, parent, neighbours);
    }
    for (const auto& [node, parent] : tree.broadcast_parent) {
      if (routed.count({parent, node}) == 0) AddNeighbours(parent, node, neighbours);
    }
  }
  JoinHops(policy.routes, neighbours);
  JoinHops(policy.auxiliary, neighbours);
  return neighbours;
}

}  // namespace

std::map<NodeId, std::vector<NodeId>> PathsFrom(NodeId from, const Policy& policy) {
  const Neighbours neighbours = NeighboursIn(policy);
  std::map<NodeId, std::vector<NodeId>> paths = {{from, {from}}};
  std::deque<NodeId> reached = {from};
  while (!reached.empty()) {
    const NodeId node = reached.front();
    reached.pop_front();
    const auto found = neighbours.find(node);
    if (found == neighbours.end()) continue;
    for (NodeId next : found->second) {
      std::vector<NodeId> path = paths.at(node);
      path.push_back(next);
      if (paths.emplace(next, std::move(path)).second) reached.push_back(next);
    }
  }
  return paths;
}

}  // namespace banyan
