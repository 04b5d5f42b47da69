// The simulations of deploy/topologies/internet2.yaml that tests start from. Pure but for reading that file.
#ifndef BANYAN_SIM_TESTING_INTERNET2_SIMULATION_H_
#define BANYAN_SIM_TESTING_INTERNET2_SIMULATION_H_

#include <cstdint>

#include "sim/runs/simulation.h"

namespace banyan {

// One tensor of float32, everything else as the file and SimulationOptions say. REQUIRES: the test has the overlays of
// //deploy/topologies as data.
SimulationOptions Internet2Simulation(int64_t model_bytes, uint64_t rounds);

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_INTERNET2_SIMULATION_H_
