#include "scheduler/slice_maker.h"

#include <set>
#include <utility>
#include <vector>

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

NeighbourSlice MakeNeighbour(NodeId self, NodeId other, const NetworkView& view, const NodeAddress& address) {
  NeighbourSlice neighbour;
  neighbour.node = other;
  neighbour.name = view.NameOf(other);
  neighbour.address = address.address;
  neighbour.incarnation = address.incarnation;
  const NetworkLink* there = view.FindLink(self, other);
  const NetworkLink* back = view.FindLink(other, self);
  if (there != nullptr) neighbour.rate_bps = there->throughput_bps;
  if (there != nullptr) neighbour.round_trip += there->delay;
  if (back != nullptr) neighbour.round_trip += back->delay;
  // A link of one direction: its acknowledgements come back over the same distance.
  if ((there == nullptr) != (back == nullptr)) neighbour.round_trip *= 2;
  return neighbour;
}

PolicySlice MakeCommonPart(const Policy& policy) {
  PolicySlice slice;
  slice.version = policy.version;
  slice.epoch = policy.epoch;
  slice.key_table = policy.key_table;
  slice.chunk_max_elements = policy.chunk_max_elements;
  slice.member_count = static_cast<uint32_t>(policy.members.size());
  slice.lowest_member = policy.members.front();
  slice.trees.reserve(policy.trees.size());
  return slice;
}

}  // namespace

std::map<NodeId, PolicySlice> MakeSlices(const Policy& policy, const NetworkView& view,
                                         const std::map<NodeId, NodeAddress>& addresses) {
  std::map<NodeId, PolicySlice> slices;
  for (const NodeId member : policy.members) slices.emplace(member, MakeCommonPart(policy));
  RoutesByEnds routes;
  for (const Route& route : policy.routes) routes[{route.from, route.to}] = &route;

  Neighbours neighbours;
  for (const Tree& tree : policy.trees) AddTree(tree, routes, slices, neighbours);
  for (const Route& route : policy.routes) slices.at(route.from).routes.push_back(RouteSlice{route.path});
  for (const Route& detour : policy.auxiliary) {
    slices.at(detour.from).auxiliary.push_back(RouteSlice{detour.path});
    AddHops(detour.path, neighbours);
  }
  for (const auto& [node, others] : neighbours) {
    for (const NodeId other : others) {
      slices.at(node).neighbours.push_back(MakeNeighbour(node, other, view, addresses.at(other)));
    }
  }
  return slices;
}

}  // namespace banyan
