// Networks for tests and benchmarks: small ones whose best rates are known, the nine data centres of the demo, random
// ones, full meshes, and the overlays on which planners are compared. Pure functions.
#ifndef BANYAN_TOPOLOGY_SAMPLES_SAMPLE_NETWORKS_H_
#define BANYAN_TOPOLOGY_SAMPLES_SAMPLE_NETWORKS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

// One direction of a link between the nodes numbered from 1.
struct SampleLink {
  uint32_t from = 0;
  uint32_t to = 0;
  double mbps = 0;
};

// Nodes n1..n<nodes>, with exactly these directed links.
NetworkView SampleNetwork(int nodes, const std::vector<SampleLink>& links);

// A-B and B-C at 10 Mbit/s, A-C at 4.9, both directions alike.
NetworkView TriangleNetwork();

// Every pair linked at `mbps` in both directions.
NetworkView CompleteNetwork(int nodes, double mbps);

// The nine data centres of deploy/topologies/internet2.yaml.
NetworkView Internet2Network();

// The nine cloud regions of deploy/topologies/cloud9.yaml.
NetworkView Cloud9Network();

// The data centres and links of Internet2Network with other rates, each direction between 20 and 155 Mbit/s.
NetworkView DrawnInternet2Network(uint64_t seed);

// Leaves n2.. around a hub n1, to and from which each has `hub_mbps`; any two leaves have `mesh_mbps` between them.
NetworkView HubAndMeshNetwork(int leaves, double hub_mbps, double mesh_mbps);

// Nodes at random places of a square that light crosses in 30 ms. Each is linked to the `degree` nodes nearest to it,
// and has further links where they are needed to connect all. Rates are random between 20 and 155 Mbit/s per direction,
// and delays are as the distance.
NetworkView GeometricNetwork(int nodes, int degree, uint64_t seed);

// The same network with these caps on every node.
NetworkView WithCaps(const NetworkView& view, double up_mbps, double down_mbps);

// A connected network of random links between 20 and 155 Mbit/s per direction, each node having about `degree` of them.
NetworkView RandomNetwork(int nodes, int degree, uint64_t seed);

// ---- full meshes with invented rates: every two nodes have a link (mesh_networks.cc) ----

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

// ---- families of random draws, which `banyan bench plan` plans and sim/planners simulates (overlay_families.cc) ----

struct OverlayFamily {
  std::string name;                           // "geometric_20"
  uint64_t draws = 1;                         // how many there are to compare on
  std::function<NetworkView(uint64_t)> draw;  // of 1 to `draws`
};

// internet2 and cloud9 (also with a cap of 5,000 Mbit/s on what each node sends and receives) as in deploy/topologies;
// internet2 with other rates; full meshes of nine with rates like these; a hub of 100 Mbit/s to 4 and to 8 leaves,
// which have 5 among each other; random places of a plane, 20, 50 and 100 of them, each linked to its nearest four and
// more.
std::vector<OverlayFamily> OverlayFamilies();

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_SAMPLES_SAMPLE_NETWORKS_H_
