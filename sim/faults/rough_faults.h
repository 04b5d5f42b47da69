// Faults of a rough job: an operator gives orders while others end, disks stand for long, links become slow and
// uneven, a scheduler comes back with another overlay file. Pure but for what happens to the cluster.
#ifndef BANYAN_SIM_FAULTS_ROUGH_FAULTS_H_
#define BANYAN_SIM_FAULTS_ROUGH_FAULTS_H_

#include <vector>

#include "core/random.h"
#include "sim/cluster.h"
#include "sim/faults/fault.h"
#include "sim/faults/fault_plan.h"
#include "sim/processes/simulated_operator.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// As DrawFaults, of kinds that are all rough. About a removal others end too, the scheduler among them: before the
// order is durable, before its epoch begins, or later.
std::vector<Fault> DrawRoughFaults(const FaultPlanOptions& options, Random* random);
// The end of the job by an operator, about which the scheduler ends too in half of the draws.
std::vector<Fault> DrawStop(const FaultPlanOptions& options, Random* random);
// What the operator does of these faults, in order of time: it removes nodes and lets them in again, or ends the job.
std::vector<OperatorOrder> OrdersOf(const std::vector<Fault>& faults, const OverlayConfig& overlay);

// Lets the fault happen. Returns whether it did anything. REQUIRES, as the next: its kind is rough.
bool BeginRoughFault(const Fault& fault, Random* random, Cluster* cluster);
// Undoes it.
void EndRoughFault(const Fault& fault, Random* random, Cluster* cluster);

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_ROUGH_FAULTS_H_
