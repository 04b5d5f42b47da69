// The simulations that tests start from. Pure but for reading the files of deploy/topologies.
#ifndef BANYAN_SIM_TESTING_SAMPLE_SIMULATIONS_H_
#define BANYAN_SIM_TESTING_SAMPLE_SIMULATIONS_H_

#include <cstdint>

#include "sim/cluster_options.h"
#include "sim/runs/simulation.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// One tensor of float32 on internet2.yaml, everything else as the file and SimulationOptions say.
SimulationOptions Internet2Simulation(int64_t model_bytes, uint64_t rounds);

// --- jobs on networks where links share capacities that nobody is told of ---

struct HiddenCapacities {
  SimulationOptions options;  // the true network
  OverlayConfig told;
};

// The job on the true network, whose cores are told less.
ClusterOptions MakeClusterOptions(const HiddenCapacities& hidden);

// Nine cloud regions whose hosts send and receive 5,000 Mbit/s at most.
HiddenCapacities CloudWithHiddenCaps(uint64_t seed, uint64_t rounds);
// Eight sites, each of which sends and receives over one access link: 100 to 500 Mbit/s in each direction. The rates of
// pairs are told, which are those of the slower access link, and the access links are not.
HiddenCapacities StarOfAccessLinks(uint64_t seed, uint64_t rounds);
// Six sites with links of 40 to 155 Mbit/s between all pairs. Two links of four sites share the wire of a router.
HiddenCapacities LinksBehindRouter(uint64_t seed, uint64_t rounds);
// The nine sites of Internet2: each pair has a path over the network's links, and nothing but the nodes is told.
HiddenCapacities RoutedInternet2(uint64_t seed, uint64_t rounds);
// Six sites as with LinksBehindRouter, which share nothing; the rates are told, or those of nobody.
HiddenCapacities NothingHidden(uint64_t seed, uint64_t rounds);

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_SAMPLE_SIMULATIONS_H_
