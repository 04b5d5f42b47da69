#include "sim/overlays.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/check.h"
#include "core/ids.h"
#include "core/units.h"

namespace banyan {

// --- random overlays, and those of views ---

namespace {

using Pairs = std::set<std::pair<int, int>>;

std::pair<int, int> Ordered(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

OverlayConfig MakeOverlay(const OverlayShape& shape, const Pairs& pairs, Random* random) {
  OverlayConfig overlay;
  overlay.topology.planner = "fapt";  // the cheapest to plan; who wants another says so
  for (int i = 1; i <= shape.nodes; ++i) overlay.nodes.emplace_back().name = absl::StrCat("n", i);
  const auto rate = [&] { return shape.least_bps + (shape.most_bps - shape.least_bps) * random->Unit(); };
  overlay.links.emplace();
  for (const auto& [a, b] : pairs) {
    LinkConfig& link = overlay.links->emplace_back();
    link.a = overlay.nodes[a].name;
    link.b = overlay.nodes[b].name;
    link.a_to_b_bps = rate();
    link.b_to_a_bps = rate();
    const absl::Duration delay = shape.least_delay + (shape.most_delay - shape.least_delay) * random->Unit();
    link.delay = absl::Trunc(delay, absl::Microseconds(1));
  }
  return overlay;
}

void Shuffle(std::vector<int>* values, Random* random) {
  for (size_t i = values->size(); i > 1; --i) std::swap((*values)[i - 1], (*values)[random->Below(i)]);
}

// The unfilled places of all nodes, joined at random; false when the last ones do not fit.
bool FillPlaces(int nodes, int places, Pairs* pairs, Random* random) {
  std::vector<int> open;
  for (int node = 0; node < nodes; ++node) open.insert(open.end(), places, node);
  Shuffle(&open, random);
  while (!open.empty()) {
    const int node = open.back();
    const auto fits = [&](int other) { return other != node && !pairs->contains(Ordered(node, other)); };
    const auto other = std::find_if(open.begin(), open.end(), fits);
    if (other == open.end()) return false;
    pairs->insert(Ordered(node, *other));
    open.pop_back();
    open.erase(other);
  }
  return true;
}

}  // namespace

OverlayConfig RandomOverlay(const OverlayShape& shape, Random* random) {
  BANYAN_CHECK(shape.nodes >= 1);
  Pairs pairs;
  for (int node = 1; node < shape.nodes; ++node) pairs.insert({static_cast<int>(random->Below(node)), node});
  const int64_t most = int64_t{shape.nodes} * (shape.nodes - 1) / 2;
  const int64_t wanted = std::min<int64_t>(shape.links, most);
  while (static_cast<int64_t>(pairs.size()) < wanted) {
    const int a = static_cast<int>(random->Below(shape.nodes));
    const int b = static_cast<int>(random->Below(shape.nodes));
    if (a != b) pairs.insert(Ordered(a, b));
  }
  return MakeOverlay(shape, pairs, random);
}

OverlayConfig RegularOverlay(const OverlayShape& shape, int degree, Random* random) {
  BANYAN_CHECK(degree >= 2 && degree < shape.nodes && shape.nodes * degree % 2 == 0);
  for (;;) {
    Pairs pairs;
    for (int node = 0; node < shape.nodes; ++node) pairs.insert(Ordered(node, (node + 1) % shape.nodes));
    if (FillPlaces(shape.nodes, degree - 2, &pairs, random)) return MakeOverlay(shape, pairs, random);
  }
}

OverlayConfig OverlayOf(const NetworkView& view) {
  OverlayConfig overlay;
  for (const NetworkNode& node : view.nodes()) {
    NodeConfig& config = overlay.nodes.emplace_back();
    config.name = node.name;
    config.up_cap_bps = node.up_cap_bps;
    config.down_cap_bps = node.down_cap_bps;
  }
  overlay.links.emplace();
  for (const NetworkLink& link : view.links()) {
    const NetworkLink* back = view.FindLink(link.to, link.from);
    BANYAN_CHECK(back != nullptr && back->delay == link.delay && back->loss_fraction == link.loss_fraction);
    if (link.to < link.from) continue;
    LinkConfig& config = overlay.links->emplace_back();
    config.a = view.NameOf(link.from);
    config.b = view.NameOf(link.to);
    config.a_to_b_bps = link.throughput_bps;
    config.b_to_a_bps = back->throughput_bps;
    config.delay = link.delay;
    config.loss_fraction = link.loss_fraction;
  }
  return overlay;
}

// --- routed overlays ---

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

// --- what cores see that carry less ---

namespace {

// A byte stands for so many, and each may be lost.
constexpr double kMostLoss = 0.999;

}  // namespace

OverlayConfig ScaleOverlay(OverlayConfig overlay, int64_t scale) {
  BANYAN_CHECK(scale >= 1);
  const auto divide = [scale](int64_t value) { return value == 0 ? 0 : std::max<int64_t>(1, value / scale); };
  overlay.chunks.max_elements = divide(overlay.chunks.max_elements);
  const int64_t least = std::min(kLeastCarriedElements, overlay.chunks.min_elements);
  overlay.chunks.min_elements = std::max(least, divide(overlay.chunks.min_elements));
  overlay.compression.least_elements = divide(overlay.compression.least_elements);
  if (overlay.transport.window_bytes.has_value()) {
    overlay.transport.window_bytes = divide(*overlay.transport.window_bytes);
  }
  overlay.transport.bytes_per_connection = divide(overlay.transport.bytes_per_connection);
  overlay.awareness.probe_chunk_bytes = divide(overlay.awareness.probe_chunk_bytes);
  overlay.transport.early_bytes = divide(overlay.transport.early_bytes);
  overlay.transport.relay_bytes = divide(overlay.transport.relay_bytes);
  if (!overlay.links.has_value()) {
    overlay.links.emplace();
    for (size_t i = 0; i < overlay.nodes.size(); ++i) {
      for (size_t j = i + 1; j < overlay.nodes.size(); ++j) {
        LinkConfig& link = overlay.links->emplace_back();
        link.a = overlay.nodes[i].name;
        link.b = overlay.nodes[j].name;
        link.has_rates = false;
      }
    }
  }
  for (LinkConfig& link : *overlay.links) {
    link.a_to_b_bps /= static_cast<double>(scale);
    link.b_to_a_bps /= static_cast<double>(scale);
    link.loss_fraction = std::min(kMostLoss, link.loss_fraction * static_cast<double>(scale));
  }
  // A round carries less by as much.
  std::optional<double>& budget = overlay.topology.budget_per_round;
  if (budget.has_value()) budget = *budget / static_cast<double>(scale);
  for (SharedConfig& shared : overlay.shared) shared.capacity_bps /= static_cast<double>(scale);
  if (overlay.scheduler.address.empty()) overlay.scheduler.address = "tcp://scheduler:7700";
  for (NodeConfig& node : overlay.nodes) {
    if (node.up_cap_bps.has_value()) node.up_cap_bps = *node.up_cap_bps / static_cast<double>(scale);
    if (node.down_cap_bps.has_value()) node.down_cap_bps = *node.down_cap_bps / static_cast<double>(scale);
    if (node.address.empty()) node.address = absl::StrCat("tcp://", node.name, ":7701");
  }
  return overlay;
}

}  // namespace banyan
