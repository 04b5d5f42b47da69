#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr double kHostCapMbps = 5000;
constexpr double kHubMbps = 100;
constexpr double kMeshMbps = 5;
constexpr int kNearest = 4;
constexpr uint64_t kGeometricDraws = 5;

OverlayFamily HubAndMesh(const std::string& name, int leaves) {
  return {name, 1, [leaves](uint64_t) { return HubAndMeshNetwork(leaves, kHubMbps, kMeshMbps); }};
}

OverlayFamily Geometric(const std::string& name, int nodes) {
  return {name, kGeometricDraws, [nodes](uint64_t draw) { return GeometricNetwork(nodes, kNearest, draw); }};
}

}  // namespace

std::vector<OverlayFamily> OverlayFamilies() {
  return {{"internet2", 1, [](uint64_t) { return Internet2Network(); }},
          {"cloud9", 1, [](uint64_t) { return Cloud9Network(); }},
          {"cloud9_capped", 1, [](uint64_t) { return WithCaps(Cloud9Network(), kHostCapMbps, kHostCapMbps); }},
          {"internet2_drawn", 30, DrawnInternet2Network},
          {"mesh_9", 12, [](uint64_t draw) { return RandomNetwork(9, 8, draw); }},
          HubAndMesh("hub_and_mesh_4", 4),
          HubAndMesh("hub_and_mesh_8", 8),
          Geometric("geometric_20", 20),
          Geometric("geometric_50", 50),
          Geometric("geometric_100", 100)};
}

}  // namespace banyan
