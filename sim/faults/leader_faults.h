// Faults of jobs with a second scheduler that stands by: of the one that leads, and of the store that both share. Pure
// but for what happens to the cluster.
#ifndef BANYAN_SIM_FAULTS_LEADER_FAULTS_H_
#define BANYAN_SIM_FAULTS_LEADER_FAULTS_H_

#include <vector>

#include "absl/time/time.h"
#include "core/random.h"
#include "sim/cluster.h"
#include "sim/faults/fault.h"
#include "sim/faults/fault_plan.h"

namespace banyan {

// As DrawFaults, of kinds that all need a standby.
std::vector<Fault> DrawLeaderFaults(const FaultPlanOptions& options, absl::Duration lease, Random* random);

// Lets the fault happen to `fault.node`, which leads. Returns whether it did anything. REQUIRES, as the next: its kind
// needs a standby, and the cluster has one.
bool BeginLeaderFault(const Fault& fault, Cluster* cluster);
// Undoes it.
void EndLeaderFault(const Fault& fault, Cluster* cluster);

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_LEADER_FAULTS_H_
