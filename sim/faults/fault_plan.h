// Draws a schedule of faults from a seed. Pure function of its arguments.
#ifndef BANYAN_SIM_FAULTS_FAULT_PLAN_H_
#define BANYAN_SIM_FAULTS_FAULT_PLAN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/random.h"
#include "sim/faults/fault.h"

namespace banyan {

struct FaultPlanOptions {
  std::vector<FaultKind> kinds;
  std::vector<int> workers;                      // of each node, from node 1 on
  std::vector<std::pair<NodeId, NodeId>> links;  // directed
  int faults = 10;                               // besides late starts
  absl::Duration first = absl::Milliseconds(300);
  absl::Duration last = absl::Seconds(10);
  absl::Duration lost_after = absl::Seconds(2);
  // Of all faults together that leave the members as they are, since any two may hit the same peers one after the
  // other. Faults that change membership lift it.
  absl::Duration longest_in_all = absl::Seconds(1);
};

// In order of time. At most a third of the nodes leave for good or start late. Those who stay are connected by links.
std::vector<Fault> DrawFaults(const FaultPlanOptions& options, Random* random);

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_FAULT_PLAN_H_
