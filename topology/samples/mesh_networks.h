// Full meshes with invented rates, for tests and comparisons of planners: every two nodes have a link. Pure functions.
#ifndef BANYAN_TOPOLOGY_SAMPLES_MESH_NETWORKS_H_
#define BANYAN_TOPOLOGY_SAMPLES_MESH_NETWORKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

enum class MeshRates {
  kEqual,       // 100 Mbit/s
  kUneven,      // 20 to 155 Mbit/s per direction
  kByDistance,  // 5 to 1,000 Mbit/s, less the further two places on a globe are apart
  kHeavyTails,  // 10 Mbit/s and more per direction, few links far more
};

inline constexpr MeshRates kAllMeshRates[] = {MeshRates::kEqual, MeshRates::kUneven, MeshRates::kByDistance,
                                              MeshRates::kHeavyTails};

std::string NameOf(MeshRates rates);

// Nodes n1..n<nodes>. Delays are those of places on a globe.
NetworkView MeshNetwork(MeshRates rates, int nodes, uint64_t seed);

// The first `nodes` nodes of the network, and the links among them.
NetworkView FirstNodes(const NetworkView& view, int nodes);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_SAMPLES_MESH_NETWORKS_H_
