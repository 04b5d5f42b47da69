#include "sim/testing/sample_simulations.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/random.h"
#include "sim/overlays.h"
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

}  // namespace

SimulationOptions Internet2Simulation(int64_t model_bytes, uint64_t rounds) {
  return JobOf(Load("internet2.yaml"), model_bytes, SimulationOptions().seed, rounds);
}

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
  OverlayConfig overlay = RoutedOverlay(seed == 1 ? Internet2Network() : DrawnInternet2Network(seed));
  OverlayConfig told;
  told.nodes = overlay.nodes;
  return {JobOf(std::move(overlay), 46'000'000, seed, rounds), std::move(told)};
}

}  // namespace banyan
