#include "sim/routed_overlay.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"

namespace banyan {
namespace {

std::vector<NodeId> PathOf(const NetworkView& view, NodeId from, NodeId to) {
  std::map<NodeId, NodeId> before = {{from, from}};
  std::vector<NodeId> open = {from};
  for (size_t i = 0; i < open.size(); ++i) {
    for (const NetworkLink& link : view.LinksFrom(open[i])) {
      if (before.emplace(link.to, open[i]).second) open.push_back(link.to);
    }
  }
  std::vector<NodeId> path = {to};
  while (path.back() != from) path.push_back(before.at(path.back()));
  std::reverse(path.begin(), path.end());
  return path;
}

using Wires = std::map<std::pair<NodeId, NodeId>, SharedConfig>;

// Makes one direction of `link` go by the path from `from` to `to`, over whose wires it goes from now on.
void GoByPath(const NetworkView& view, NodeId from, NodeId to, LinkConfig& link, double& rate_bps, Wires& wires) {
  const std::vector<NodeId> path = PathOf(view, from, to);
  rate_bps = view.FindLink(path[0], path[1])->throughput_bps;
  link.delay = absl::ZeroDuration();
  for (size_t i = 1; i < path.size(); ++i) {
    const NetworkLink& hop = *view.FindLink(path[i - 1], path[i]);
    rate_bps = std::min(rate_bps, hop.throughput_bps);
    link.delay += hop.delay;
    wires[{hop.from, hop.to}].links.emplace_back(view.NameOf(from), view.NameOf(to));
  }
}

}  // namespace

OverlayConfig RoutedOverlay(const NetworkView& view) {
  OverlayConfig overlay;
  overlay.links.emplace();
  Wires wires;
  for (const NetworkLink& link : view.links()) wires[{link.from, link.to}].capacity_bps = link.throughput_bps;
  for (const NetworkNode& a : view.nodes()) {
    overlay.nodes.emplace_back().name = a.name;
    for (const NetworkNode& b : view.nodes()) {
      if (!(a.id < b.id)) continue;
      LinkConfig& link = overlay.links->emplace_back();
      link.a = a.name;
      link.b = b.name;
      GoByPath(view, a.id, b.id, link, link.a_to_b_bps, wires);
      GoByPath(view, b.id, a.id, link, link.b_to_a_bps, wires);
    }
  }
  for (auto& [ends, wire] : wires) {
    if (!wire.links.empty()) overlay.shared.push_back(std::move(wire));
  }
  return overlay;
}

bool IsFullMesh(const NetworkView& view) {
  const size_t nodes = view.nodes().size();
  return view.links().size() == nodes * (nodes - 1);
}

}  // namespace banyan
