// Networks for tests and benchmarks: the facts of the design, the nine data centres of the demo, and random ones. Pure
// functions.
#ifndef BANYAN_TOPOLOGY_SAMPLE_NETWORKS_H_
#define BANYAN_TOPOLOGY_SAMPLE_NETWORKS_H_

#include <cstdint>
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

// A connected network of random links between 20 and 155 Mbit/s per direction, each node having about `degree` of them.
NetworkView RandomNetwork(int nodes, int degree, uint64_t seed);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_SAMPLE_NETWORKS_H_
