#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/check.h"
#include "core/random.h"
#include "core/units.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr double kEarthRadiusKm = 6371;
// Cables are not straight.
constexpr double kCableFactor = 1.3;
constexpr double kKmPerMillisecond = 200;
constexpr double kLeastDelayMs = 0.5;

struct MeshPlace {
  double latitude = 0;
  double longitude = 0;
};

std::vector<MeshPlace> DrawPlaces(int count, Random& random) {
  std::vector<MeshPlace> places;
  for (int i = 0; i < count; ++i) {
    const double latitude = std::asin(-0.6 + 1.5 * random.Unit());
    places.push_back({latitude, std::numbers::pi * (2 * random.Unit() - 1)});
  }
  return places;
}

double DelayMs(const MeshPlace& a, const MeshPlace& b) {
  const double cosine = std::sin(a.latitude) * std::sin(b.latitude) +
                        std::cos(a.latitude) * std::cos(b.latitude) * std::cos(a.longitude - b.longitude);
  const double km = kEarthRadiusKm * kCableFactor * std::acos(std::clamp(cosine, -1.0, 1.0));
  return std::max(kLeastDelayMs, km / kKmPerMillisecond);
}

// Of one direction.
double DrawMbps(MeshRates rates, double delay_ms, Random& random) {
  switch (rates) {
    case MeshRates::kEqual:
      return 100;
    case MeshRates::kUneven:
      return 20 + 135 * random.Unit();
    case MeshRates::kByDistance:
      return std::clamp(10000 / delay_ms, 5.0, 1000.0);
    case MeshRates::kHeavyTails:
      return std::min(10000.0, 10 * std::pow(1 - random.Unit(), -1 / 1.1));
  }
  BANYAN_CHECK(false);
}

}  // namespace

std::string NameOf(MeshRates rates) {
  switch (rates) {
    case MeshRates::kEqual:
      return "equal";
    case MeshRates::kUneven:
      return "uneven";
    case MeshRates::kByDistance:
      return "by distance";
    case MeshRates::kHeavyTails:
      return "heavy tails";
  }
  BANYAN_CHECK(false);
}

NetworkView MeshNetwork(MeshRates rates, int nodes, uint64_t seed) {
  Random random(seed);
  const std::vector<MeshPlace> places = DrawPlaces(nodes, random);
  std::vector<NetworkNode> network_nodes;
  std::vector<NetworkLink> links;
  for (uint32_t a = 0; a < places.size(); ++a) {
    network_nodes.push_back({NodeId(a + 1), "n" + std::to_string(a + 1), {}, {}});
    for (uint32_t b = a + 1; b < places.size(); ++b) {
      const double delay_ms = DelayMs(places[a], places[b]);
      for (const auto& [from, to] : {std::make_pair(a, b), std::make_pair(b, a)}) {
        links.push_back({NodeId(from + 1), NodeId(to + 1), kBitsPerMegabit * DrawMbps(rates, delay_ms, random),
                         absl::Milliseconds(delay_ms), 0, LinkSource::kBelieved});
      }
    }
  }
  absl::StatusOr<NetworkView> view = NetworkView::Create(std::move(network_nodes), std::move(links));
  BANYAN_CHECK(view.ok());
  return *std::move(view);
}

NetworkView FirstNodes(const NetworkView& view, int nodes) {
  std::vector<NodeId> first;
  for (const NetworkNode& node : view.nodes().first(static_cast<size_t>(nodes))) first.push_back(node.id);
  absl::StatusOr<NetworkView> restricted = view.Restrict(first);
  BANYAN_CHECK(restricted.ok());
  return *std::move(restricted);
}

}  // namespace banyan
