// Draws schedules of faults from a seed, and has those of groups of their own happen: of a second scheduler that stands
// by, of silent connections, of rough jobs. Draw.. are pure functions of their arguments; Begin.. and End.. are so but
// for what happens to the cluster.
#ifndef BANYAN_SIM_FAULTS_FAULT_PLAN_H_
#define BANYAN_SIM_FAULTS_FAULT_PLAN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/random.h"
#include "sim/cluster.h"
#include "sim/faults/fault.h"
#include "sim/processes/simulated_operator.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Draws a duration from `least` to `most`.
inline absl::Duration Between(absl::Duration least, absl::Duration most, Random* random) {
  return absl::Nanoseconds(random->Between(absl::ToInt64Nanoseconds(least), absl::ToInt64Nanoseconds(most)));
}

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

// --- jobs with a second scheduler that stands by: faults of the one that leads, and of the store that both share ---

// As DrawFaults, of kinds that all need a standby.
std::vector<Fault> DrawLeaderFaults(const FaultPlanOptions& options, absl::Duration lease, Random* random);

// Lets the fault happen to `fault.node`, which leads. Returns whether it did anything. REQUIRES, as the next: its kind
// needs a standby, and the cluster has one.
bool BeginLeaderFault(const Fault& fault, Cluster* cluster);
// Undoes it.
void EndLeaderFault(const Fault& fault, Cluster* cluster);

// --- connections that stay, and carry nothing any more without a word: what NATs, firewalls and tunnels do ---

// As DrawFaults, of kinds that are all silences.
std::vector<Fault> DrawSilences(const FaultPlanOptions& options, Random* random);

// Lets the fault happen. Returns whether it did anything. REQUIRES, as the next: its kind is a silence.
bool BeginSilence(const Fault& fault, Random* random, Cluster* cluster);
// Undoes it; connections that are silent stay so.
void EndSilence(const Fault& fault, Cluster* cluster);

// --- rough jobs: an operator gives orders while others end, disks stand for long, links become slow and uneven, a
// scheduler comes back with another overlay file ---

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

#endif  // BANYAN_SIM_FAULTS_FAULT_PLAN_H_
