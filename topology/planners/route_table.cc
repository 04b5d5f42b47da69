#include "topology/planners/route_table.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace banyan {

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
