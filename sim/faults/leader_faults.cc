#include "core/check.h"
#include "sim/faults/fault_plan.h"

namespace banyan {
namespace {

void Isolate(NodeId leader, bool is_silent, Cluster* cluster) {
  SimulatedNetwork* network = cluster->simulator()->network();
  for (uint32_t id = 1; id <= cluster->node_count(); ++id) {
    network->Cut(leader, NodeId(id));
    network->Cut(NodeId(id), leader);
    if (is_silent) continue;
    for (const ConnectionIndex connection : network->ConnectionsInUse(leader, NodeId(id))) {
      LossOptions loss;
      loss.acceptor_notices = loss.opener_notices;
      network->Lose(connection, loss);
    }
  }
}

}  // namespace

std::vector<Fault> DrawLeaderFaults(const FaultPlanOptions& options, absl::Duration lease, Random* random) {
  BANYAN_CHECK(!options.kinds.empty());
  std::vector<Fault> faults;
  for (int i = 0; i < options.faults; ++i) {
    Fault fault;
    fault.at = Between(options.first, options.last, random);
    fault.kind = options.kinds[random->Below(options.kinds.size())];
    fault.node = fault.other = kSchedulerNode;
    // Until somebody else leads, or not that long.
    fault.lasts =
        random->Chance(0.7) ? Between(lease, 3 * lease, random) : Between(absl::Milliseconds(1), lease, random);
    fault.is_silent = random->Chance(0.3);
    faults.push_back(fault);
  }
  return faults;
}

bool BeginLeaderFault(const Fault& fault, Cluster* cluster) {
  StandbySchedulers* standby = cluster->processes()->standby();
  SimulatedProcess* leader = cluster->simulator()->process(fault.node);
  switch (fault.kind) {
    case FaultKind::kStopLeader:
      if (!leader->running()) return false;
      leader->PauseUntil(cluster->simulator()->now() + fault.lasts);
      return true;
    case FaultKind::kKillLeader:
      if (!leader->running()) return false;
      standby->Kill(fault.node, fault.is_silent);
      return true;
    case FaultKind::kCutLeaderFromStore:
      standby->storage()->SetCutOff(fault.node, true);
      return true;
    case FaultKind::kStoreAway:
      standby->storage()->SetAway(true);
      return true;
    default:
      Isolate(fault.node, fault.is_silent, cluster);
      return true;
  }
}

void EndLeaderFault(const Fault& fault, Cluster* cluster) {
  StandbySchedulers* standby = cluster->processes()->standby();
  switch (fault.kind) {
    case FaultKind::kKillLeader:
      return standby->Start();
    case FaultKind::kCutLeaderFromStore:
      return standby->storage()->SetCutOff(fault.node, false);
    case FaultKind::kStoreAway:
      return standby->storage()->SetAway(false);
    case FaultKind::kIsolateLeader:
      for (uint32_t id = 1; id <= cluster->node_count(); ++id) {
        cluster->simulator()->network()->Heal(fault.node, NodeId(id));
      }
      return;
    default:
      return;
  }
}

}  // namespace banyan
