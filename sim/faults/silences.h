// Faults of connections that stay, and carry nothing any more without a word: what NATs, firewalls and tunnels do. Pure
// but for what happens to the cluster.
#ifndef BANYAN_SIM_FAULTS_SILENCES_H_
#define BANYAN_SIM_FAULTS_SILENCES_H_

#include <vector>

#include "core/random.h"
#include "sim/cluster.h"
#include "sim/faults/fault.h"
#include "sim/faults/fault_plan.h"

namespace banyan {

// As DrawFaults, of kinds that are all silences.
std::vector<Fault> DrawSilences(const FaultPlanOptions& options, Random* random);

// Lets the fault happen. Returns whether it did anything. REQUIRES, as the next: its kind is a silence.
bool BeginSilence(const Fault& fault, Random* random, Cluster* cluster);
// Undoes it; connections that are silent stay so.
void EndSilence(const Fault& fault, Cluster* cluster);

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_SILENCES_H_
