#include "topology/evaluation/plan_rate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
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

double PartOf(std::optional<double> cap_bps, double link_load, double host_load) {
  if (!cap_bps.has_value()) return std::numeric_limits<double>::infinity();
  return link_load > 0 ? *cap_bps * link_load / host_load : 0;
}

}  // namespace

CappedRates MakeCappedRates(const Policy& policy, const NetworkView& view) {
  const std::vector<double> loads = LinkLoads(policy, view);
  const HostLoads hosts = HostLoadsOf(loads, view);
  const std::vector<double> shared = SharedLoadsOf(loads, view);
  CappedRates rates;
  for (size_t i = 0; i < loads.size(); ++i) {
    const NetworkLink& link = view.links()[i];
    double part_bps = std::min(PartOf(view.FindNode(link.from)->up_cap_bps, loads[i], hosts.sent.at(link.from)),
                               PartOf(view.FindNode(link.to)->down_cap_bps, loads[i], hosts.received.at(link.to)));
    for (const size_t s : view.SharedBy(i)) {
      part_bps = std::min(part_bps, PartOf(view.shared()[s].capacity_bps, loads[i], shared[s]));
    }
    if (part_bps < link.throughput_bps) rates[{link.from, link.to}] = part_bps;
  }
  return rates;
}

SpareRates::SpareRates(const Policy& policy, const NetworkView& view)
    : view_(view),
      loads_(LinkLoads(policy, view)),
      hosts_(HostLoadsOf(loads_, view)),
      shared_(SharedLoadsOf(loads_, view)),
      rate_bps_(policy.rate_bps) {}

double SpareRates::SpareOf(const std::vector<NodeId>& path) const {
  double spare = 1;
  for (size_t i = 1; i < path.size(); ++i) {
    const double link_bps = view_.FindLink(path[i - 1], path[i])->throughput_bps;
    spare = std::min(spare, 1 - LoadOf(path[i - 1], path[i]) * rate_bps_ / link_bps);
    for (const size_t shared : view_.SharedBy(PositionOf(path[i - 1], path[i]))) {
      spare = std::min(spare, 1 - shared_[shared] * rate_bps_ / view_.shared()[shared].capacity_bps);
    }
  }
  for (size_t i = 1; i + 1 < path.size(); ++i) spare = std::min(spare, SpareOfRelay(path[i]));
  return std::max(0.0, spare);
}

bool SpareRates::CrossesIdleLink(const std::vector<NodeId>& path) const {
  for (size_t i = 1; i < path.size(); ++i) {
    if (LoadOf(path[i - 1], path[i]) == 0) return true;
  }
  return false;
}

double SpareRates::LoadOf(NodeId from, NodeId to) const { return loads_[PositionOf(from, to)]; }

size_t SpareRates::PositionOf(NodeId from, NodeId to) const {
  return static_cast<size_t>(view_.FindLink(from, to) - view_.links().data());
}

double SpareRates::SpareOfRelay(NodeId relay) const {
  const NetworkNode& node = *view_.FindNode(relay);
  double spare = 1;
  if (node.up_cap_bps.has_value()) spare = 1 - hosts_.sent.at(relay) * rate_bps_ / *node.up_cap_bps;
  if (node.down_cap_bps.has_value()) {
    spare = std::min(spare, 1 - hosts_.received.at(relay) * rate_bps_ / *node.down_cap_bps);
  }
  return spare;
}

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
