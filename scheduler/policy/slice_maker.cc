#include "scheduler/policy/slice_maker.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "topology/evaluation/plan_rate.h"

namespace banyan {
namespace {

using Neighbours = std::map<NodeId, std::set<NodeId>>;
using RoutesByEnds = std::map<std::pair<NodeId, NodeId>, const Route*>;

void AddHops(const std::vector<NodeId>& path, Neighbours& neighbours) {
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    neighbours[path[i]].insert(path[i + 1]);
    neighbours[path[i + 1]].insert(path[i]);
  }
}

void AddEdge(NodeId from, NodeId to, const RoutesByEnds& routes, Neighbours& neighbours) {
  const auto route = routes.find({from, to});
  AddHops(route == routes.end() ? std::vector<NodeId>{from, to} : route->second->path, neighbours);
}

void AddTree(const Tree& tree, const RoutesByEnds& routes, std::map<NodeId, PolicySlice>& slices,
             Neighbours& neighbours) {
  for (auto& [node, slice] : slices) {
    TreeSlice& place = slice.trees.emplace_back();
    place.root = tree.root;
    place.share = tree.share;
  }
  // The maps are in order of the child, so children come in rising order.
  for (const auto& [child, parent] : tree.reduce_parent) {
    slices.at(child).trees.back().reduce_parent = parent;
    slices.at(parent).trees.back().reduce_children.push_back(child);
    AddEdge(child, parent, routes, neighbours);
  }
  for (const auto& [child, parent] : tree.broadcast_parent) {
    slices.at(child).trees.back().broadcast_parent = parent;
    slices.at(parent).trees.back().broadcast_children.push_back(child);
    AddEdge(parent, child, routes, neighbours);
  }
}

// A link of one direction counts twice: its acknowledgements come back over the same distance.
absl::Duration RoundTrip(NodeId self, NodeId other, const NetworkView& view) {
  const NetworkLink* there = view.FindLink(self, other);
  const NetworkLink* back = view.FindLink(other, self);
  if (there == nullptr && back == nullptr) return absl::ZeroDuration();
  if (there == nullptr) return 2 * back->delay;
  return there->delay + (back == nullptr ? there : back)->delay;
}

RouteSlice MakeRoute(const std::vector<NodeId>& path, const NetworkView& view) {
  RouteSlice route;
  route.path = path;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const double rate_bps = view.FindLink(path[i], path[i + 1])->throughput_bps;
    route.rate_bps = i == 0 ? rate_bps : std::min(route.rate_bps, rate_bps);
    route.round_trip += RoundTrip(path[i], path[i + 1], view);
  }
  return route;
}

NeighbourSlice MakeNeighbour(NodeId self, NodeId other, const NetworkView& view, const NodeAddress& address) {
  NeighbourSlice neighbour;
  neighbour.node = other;
  neighbour.name = view.NameOf(other);
  neighbour.address = address.address;
  neighbour.incarnation = address.incarnation;
  const NetworkLink* there = view.FindLink(self, other);
  if (there != nullptr) {
    neighbour.rate_bps = there->throughput_bps;
    neighbour.rate_is_guessed = there->is_guessed;
  }
  neighbour.round_trip = RoundTrip(self, other, view);
  return neighbour;
}

void AddAuxiliaryPaths(const Policy& policy, const NetworkView& view, std::map<NodeId, PolicySlice>& slices,
                       Neighbours& neighbours) {
  const SpareRates spare_rates(policy, view);
  for (const Route& auxiliary_path : policy.auxiliary) {
    RouteSlice& slice = slices.at(auxiliary_path.from).auxiliary.emplace_back(MakeRoute(auxiliary_path.path, view));
    slice.share = auxiliary_path.share;
    slice.spare = spare_rates.SpareOf(auxiliary_path.path);
    slice.crosses_idle_link = spare_rates.CrossesIdleLink(auxiliary_path.path);
    AddHops(auxiliary_path.path, neighbours);
  }
}

// Returns the tree neighbours of `slice` that are not among its `neighbours`.
std::set<NodeId> RelayedNodes(const PolicySlice& slice, const std::set<NodeId>& neighbours) {
  std::set<NodeId> relayed;
  for (const TreeSlice& tree : slice.trees) {
    relayed.insert(tree.reduce_children.begin(), tree.reduce_children.end());
    relayed.insert(tree.broadcast_children.begin(), tree.broadcast_children.end());
    if (tree.reduce_parent.has_value()) relayed.insert(*tree.reduce_parent);
    if (tree.broadcast_parent.has_value()) relayed.insert(*tree.broadcast_parent);
  }
  for (const NodeId neighbour : neighbours) relayed.erase(neighbour);
  return relayed;
}

PolicySlice MakeCommonPart(const Policy& policy, const TransmissionSettings& transmission) {
  PolicySlice slice;
  slice.version = policy.version;
  slice.epoch = policy.epoch;
  slice.key_table = policy.key_table;
  slice.chunk_max_elements = policy.chunk_max_elements;
  slice.member_count = static_cast<uint32_t>(policy.members.size());
  slice.source = policy.members.front();
  slice.transmission = transmission;
  slice.trees.reserve(policy.trees.size());
  return slice;
}

}  // namespace

std::map<NodeId, PolicySlice> MakeSlices(const Policy& policy, const NetworkView& view,
                                         const TransmissionSettings& transmission,
                                         const std::map<NodeId, NodeAddress>& addresses, const LinkBudgets& budgets) {
  std::map<NodeId, PolicySlice> slices;
  for (const NodeId member : policy.members) slices.emplace(member, MakeCommonPart(policy, transmission));
  RoutesByEnds routes;
  for (const Route& route : policy.routes) routes[{route.from, route.to}] = &route;

  Neighbours neighbours;
  for (const Tree& tree : policy.trees) AddTree(tree, routes, slices, neighbours);
  for (const Route& route : policy.routes) slices.at(route.from).routes.push_back(MakeRoute(route.path, view));
  if (!policy.auxiliary.empty()) AddAuxiliaryPaths(policy, view, slices, neighbours);
  const CappedRates capped_rates = MakeCappedRates(policy, view);
  for (const auto& [node, others] : neighbours) {
    for (const NodeId other : others) {
      NeighbourSlice neighbour = MakeNeighbour(node, other, view, addresses.at(other));
      if (const auto budget = budgets.find({node, other}); budget != budgets.end()) {
        neighbour.budget_share = budget->second;
      }
      if (const auto capped = capped_rates.find({node, other}); capped != capped_rates.end()) {
        neighbour.capped_bps = capped->second;
      }
      slices.at(node).neighbours.push_back(std::move(neighbour));
    }
    for (const NodeId relayed : RelayedNodes(slices.at(node), others)) {
      slices.at(node).relayed.push_back({relayed, addresses.at(relayed).incarnation});
    }
  }
  return slices;
}

}  // namespace banyan
