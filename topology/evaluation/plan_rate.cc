#include "topology/evaluation/plan_rate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

using Routes = std::map<std::pair<NodeId, NodeId>, const Route*>;

void AddLoad(const NetworkView& view, NodeId from, NodeId to, double share, std::vector<double>& loads) {
  const NetworkLink* link = view.FindLink(from, to);
  BANYAN_CHECK(link != nullptr);
  loads[link - view.links().data()] += share;
}

void AddEdge(const NetworkView& view, const Routes& routes, NodeId from, NodeId to, double share,
             std::vector<double>& loads) {
  const auto routed = routes.find({from, to});
  if (routed == routes.end()) return AddLoad(view, from, to, share, loads);
  const std::vector<NodeId>& path = routed->second->path;
  for (size_t i = 1; i < path.size(); ++i) AddLoad(view, path[i - 1], path[i], share, loads);
}

}  // namespace

std::vector<double> LinkLoads(const Policy& policy, const NetworkView& view) {
  std::vector<double> loads(view.links().size(), 0);
  Routes routes;
  for (const Route& route : policy.routes) routes[{route.from, route.to}] = &route;
  for (const Tree& tree : policy.trees) {
    for (const auto& [node, parent] : tree.reduce_parent) AddEdge(view, routes, node, parent, tree.share, loads);
    for (const auto& [node, parent] : tree.broadcast_parent) AddEdge(view, routes, parent, node, tree.share, loads);
  }
  return loads;
}

HostLoads HostLoadsOf(const std::vector<double>& link_loads, const NetworkView& view) {
  HostLoads hosts;
  for (size_t i = 0; i < link_loads.size(); ++i) {
    hosts.sent[view.links()[i].from] += link_loads[i];
    hosts.received[view.links()[i].to] += link_loads[i];
  }
  return hosts;
}

std::vector<double> SharedLoadsOf(const std::vector<double>& link_loads, const NetworkView& view) {
  std::vector<double> loads(view.shared().size(), 0);
  for (size_t i = 0; i < link_loads.size(); ++i) {
    for (const size_t shared : view.SharedBy(i)) loads[shared] += link_loads[i];
  }
  return loads;
}

double PlanRateBps(const Policy& policy, const NetworkView& view) {
  const std::vector<double> loads = LinkLoads(policy, view);
  double rate_bps = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] > 0) rate_bps = std::min(rate_bps, view.links()[i].throughput_bps / loads[i]);
  }
  const std::vector<double> shared = SharedLoadsOf(loads, view);
  for (size_t i = 0; i < shared.size(); ++i) {
    if (shared[i] > 0) rate_bps = std::min(rate_bps, view.shared()[i].capacity_bps / shared[i]);
  }
  HostLoads hosts = HostLoadsOf(loads, view);
  for (const NetworkNode& node : view.nodes()) {
    const double sent = hosts.sent[node.id];
    const double received = hosts.received[node.id];
    if (node.up_cap_bps.has_value() && sent > 0) rate_bps = std::min(rate_bps, *node.up_cap_bps / sent);
    if (node.down_cap_bps.has_value() && received > 0) rate_bps = std::min(rate_bps, *node.down_cap_bps / received);
  }
  return rate_bps;
}

}  // namespace banyan
