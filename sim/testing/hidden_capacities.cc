#include "sim/testing/hidden_capacities.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/random.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr double kMega = 1e6;

OverlayConfig Load(const std::string& file) {
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay(absl::StrCat("deploy/topologies/", file));
  BANYAN_CHECK(overlay.ok());
  return *std::move(overlay);
}

double Between(double least, double most, Random& random) { return least + (most - least) * random.Unit(); }

SimulationOptions JobOf(OverlayConfig overlay, int64_t model_bytes, uint64_t seed, uint64_t rounds) {
  SimulationOptions options;
  options.overlay = std::move(overlay);
  options.tensor_elements = {model_bytes / 4};
  options.rounds = rounds;
  options.seed = seed;
  return options;
}

OverlayConfig Sites(int count) {
  OverlayConfig overlay;
  for (int i = 0; i < count; ++i) overlay.nodes.emplace_back().name = absl::StrCat("n", i + 1);
  overlay.links.emplace();
  return overlay;
}

// Links between all pairs of six sites.
OverlayConfig MeshOfSix(uint64_t seed) {
  Random random(seed);
  OverlayConfig overlay = Sites(6);
  for (size_t i = 0; i < overlay.nodes.size(); ++i) {
    for (size_t j = i + 1; j < overlay.nodes.size(); ++j) {
      LinkConfig& link = overlay.links->emplace_back();
      link.a = overlay.nodes[i].name;
      link.b = overlay.nodes[j].name;
      link.a_to_b_bps = Between(40, 155, random) * kMega;
      link.b_to_a_bps = Between(40, 155, random) * kMega;
      link.delay = absl::Milliseconds(Between(5, 30, random));
    }
  }
  return overlay;
}

// The path with the fewest hops, over the lowest ids.
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

}  // namespace

ClusterOptions MakeClusterOptions(const HiddenCapacities& hidden) {
  ClusterOptions options = MakeClusterOptions(hidden.options);
  options.told = hidden.told;
  return options;
}

HiddenCapacities CloudWithHiddenCaps(uint64_t seed, uint64_t rounds) {
  HiddenCapacities hidden{JobOf(Load("cloud9.yaml"), 1'000'000'000, seed, rounds), Load("cloud9.yaml")};
  for (NodeConfig& node : hidden.options.overlay.nodes) node.up_cap_bps = node.down_cap_bps = 5e9;
  return hidden;
}

HiddenCapacities StarOfAccessLinks(uint64_t seed, uint64_t rounds) {
  Random random(seed);
  OverlayConfig overlay = Sites(8);
  for (NodeConfig& node : overlay.nodes) {
    node.up_cap_bps = Between(100, 500, random) * kMega;
    node.down_cap_bps = Between(100, 500, random) * kMega;
  }
  OverlayConfig told = Sites(8);
  for (size_t i = 0; i < overlay.nodes.size(); ++i) {
    for (size_t j = i + 1; j < overlay.nodes.size(); ++j) {
      LinkConfig& link = overlay.links->emplace_back();
      link.a = overlay.nodes[i].name;
      link.b = overlay.nodes[j].name;
      link.a_to_b_bps = std::min(*overlay.nodes[i].up_cap_bps, *overlay.nodes[j].down_cap_bps);
      link.b_to_a_bps = std::min(*overlay.nodes[j].up_cap_bps, *overlay.nodes[i].down_cap_bps);
      link.delay = absl::Milliseconds(Between(5, 30, random));
    }
  }
  told.links = overlay.links;
  return {JobOf(std::move(overlay), 200'000'000, seed, rounds), std::move(told)};
}

HiddenCapacities NothingHidden(uint64_t seed, uint64_t rounds) {
  const OverlayConfig overlay = MeshOfSix(seed);
  return {JobOf(overlay, 100'000'000, seed, rounds), overlay};
}

HiddenCapacities LinksBehindRouter(uint64_t seed, uint64_t rounds) {
  HiddenCapacities hidden = NothingHidden(seed, rounds);
  SharedConfig& wire = hidden.options.overlay.shared.emplace_back();
  for (const LinkConfig& link : *hidden.options.overlay.links) {
    if (!(link.a == "n1" && link.b == "n3") && !(link.a == "n2" && link.b == "n4")) continue;
    wire.capacity_bps += 0.6 * link.a_to_b_bps;
    wire.links.emplace_back(link.a, link.b);
  }
  return hidden;
}

HiddenCapacities RoutedInternet2(uint64_t seed, uint64_t rounds) {
  const NetworkView view = seed == 1 ? Internet2Network() : DrawnInternet2Network(seed);
  OverlayConfig overlay = Sites(static_cast<int>(view.nodes().size()));
  OverlayConfig told = overlay;
  told.links.reset();
  std::map<std::pair<NodeId, NodeId>, SharedConfig> wires;
  for (const NetworkLink& link : view.links()) wires[{link.from, link.to}].capacity_bps = link.throughput_bps;
  const auto add_path = [&](NodeId from, NodeId to, LinkConfig& link, double& rate_bps) {
    const std::vector<NodeId> path = PathOf(view, from, to);
    rate_bps = view.FindLink(path[0], path[1])->throughput_bps;
    link.delay = absl::ZeroDuration();
    for (size_t i = 1; i < path.size(); ++i) {
      rate_bps = std::min(rate_bps, view.FindLink(path[i - 1], path[i])->throughput_bps);
      link.delay += view.FindLink(path[i - 1], path[i])->delay;
      wires[{path[i - 1], path[i]}].links.emplace_back(view.NameOf(from), view.NameOf(to));
    }
  };
  for (const NetworkNode& a : view.nodes()) {
    for (const NetworkNode& b : view.nodes()) {
      if (!(a.id < b.id)) continue;
      LinkConfig& link = overlay.links->emplace_back();
      link.a = a.name;
      link.b = b.name;
      add_path(a.id, b.id, link, link.a_to_b_bps);
      add_path(b.id, a.id, link, link.b_to_a_bps);
    }
  }
  for (auto& [ends, wire] : wires) {
    if (!wire.links.empty()) overlay.shared.push_back(std::move(wire));
  }
  return {JobOf(std::move(overlay), 46'000'000, seed, rounds), std::move(told)};
}

}  // namespace banyan
