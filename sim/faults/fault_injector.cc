#include "sim/faults/fault_injector.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "sim/faults/fault_plan.h"

namespace banyan {
namespace {

constexpr absl::Duration kSlowPersistTime = absl::Milliseconds(100);

absl::Duration Upto(absl::Duration most, Random* random) {
  return absl::Nanoseconds(random->Between(0, absl::ToInt64Nanoseconds(most)));
}

}  // namespace

FaultInjector::FaultInjector(const std::vector<Fault>& faults, uint64_t seed, Cluster* cluster)
    : random_(seed), cluster_(cluster) {
  Agenda* agenda = cluster->simulator()->agenda();
  for (const Fault& drawn : faults) {
    // Ends for the scheduler that it hits, whichever leads then.
    auto fault = std::make_shared<Fault>(drawn);
    agenda->CallAt(Timestamp() + drawn.at, [this, fault] {
      Simulator* simulator = cluster_->simulator();
      *fault = Aim(*fault);
      simulator->trace()->Note(simulator->now(), fault->node, "fault: " + DescribeFault(*fault));
      if (Begin(*fault)) ++happened_[fault->kind];
    });
    quiet_at_ = std::max(quiet_at_, Timestamp() + drawn.end());
    if (drawn.is_for_good) continue;
    agenda->CallAt(Timestamp() + drawn.end(), [this, fault] {
      Simulator* simulator = cluster_->simulator();
      simulator->trace()->Note(simulator->now(), fault->node, "is over: " + DescribeFault(*fault));
      End(*fault);
    });
  }
}

Fault FaultInjector::Aim(Fault fault) const {
  for (NodeId* const end : {&fault.node, &fault.other}) {
    if (*end == kSchedulerNode) *end = cluster_->processes()->leader();
  }
  return fault;
}

bool FaultInjector::Begin(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kLoseConnections:
      return LoseConnections(fault);
    case FaultKind::kStallLink:
      return StallLink(fault);
    case FaultKind::kCutLink:
    case FaultKind::kIsolateLink:
    case FaultKind::kIsolateNode:
      return Cut(fault);
    case FaultKind::kPause:
    case FaultKind::kPauseScheduler:
    case FaultKind::kStopNode:
      return Pause(fault);
    case FaultKind::kSlowStorage:
    case FaultKind::kStallStorage:
    case FaultKind::kFailStorage:
      return DisturbStorage(fault);
    case FaultKind::kRestartScheduler:
    case FaultKind::kLongSchedulerStop:
      return StopScheduler(fault);
    case FaultKind::kKillNode:
      if (!cluster_->processes()->IsRunning(fault.node)) return false;
      cluster_->processes()->KillNode(fault.node, fault.is_silent);
      return true;
    case FaultKind::kLeave:
      if (!cluster_->processes()->IsRunning(fault.node)) return false;
      // The start would wait for it for ever.
      if (fault.is_for_good && cluster_->epoch() == Epoch()) return false;
      fault.is_for_good ? cluster_->processes()->StopForGood(fault.node) : cluster_->processes()->Stop(fault.node);
      return true;
    case FaultKind::kKillWorker:
      return KillWorker({fault.node, fault.worker});
    case FaultKind::kLateStart:
      return true;
    default:
      if (IsRough(fault.kind)) return BeginRoughFault(fault, &random_, cluster_);
      return IsSilence(fault.kind) ? BeginSilence(fault, &random_, cluster_) : BeginLeaderFault(fault, cluster_);
  }
}

void FaultInjector::End(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kCutLink:
    case FaultKind::kIsolateLink:
    case FaultKind::kIsolateNode:
      return Mend(fault);
    case FaultKind::kSlowStorage:
      return cluster_->processes()->MendSlowStorage();
    case FaultKind::kFailStorage:
    case FaultKind::kRestartScheduler:
    case FaultKind::kLongSchedulerStop:
      return StartScheduler();
    case FaultKind::kKillNode:
    case FaultKind::kLeave:
    case FaultKind::kLateStart:
      return StartNode(fault.node);
    case FaultKind::kKillWorker:
      return StartWorker({fault.node, fault.worker});
    default:
      if (NeedsStandby(fault.kind)) EndLeaderFault(fault, cluster_);
      if (IsSilence(fault.kind)) EndSilence(fault, cluster_);
      if (IsRough(fault.kind)) EndRoughFault(fault, &random_, cluster_);
      return;
  }
}

bool FaultInjector::LoseConnections(const Fault& fault) {
  SimulatedNetwork* network = cluster_->simulator()->network();
  const std::vector<ConnectionIndex> in_use = network->ConnectionsInUse(fault.node, fault.other);
  for (ConnectionIndex connection : in_use) {
    if (in_use.size() > 1 && random_.Chance(0.3)) continue;
    LossOptions loss;
    loss.survivors = random_.Chance(0.5) ? Upto(fault.lasts, &random_) : absl::ZeroDuration();
    loss.opener_notices = Upto(fault.lasts, &random_);
    if (random_.Chance(0.7)) loss.acceptor_notices = Upto(fault.lasts, &random_);
    network->Lose(connection, loss);
  }
  return !in_use.empty();
}

bool FaultInjector::StallLink(const Fault& fault) {
  SimulatedLink* link = cluster_->simulator()->network()->FindLink(fault.node, fault.other);
  if (link == nullptr) return false;
  link->Stall(cluster_->simulator()->now() + fault.lasts);
  return true;
}

bool FaultInjector::Cut(const Fault& fault) {
  SimulatedNetwork* network = cluster_->simulator()->network();
  network->Cut(fault.node, fault.other);
  if (!fault.is_one_way) network->Cut(fault.other, fault.node);
  if (fault.is_silent) return true;
  LossOptions loss;
  for (ConnectionIndex connection : network->ConnectionsInUse(fault.node, fault.other)) {
    loss.opener_notices = Upto(fault.lasts, &random_);
    loss.acceptor_notices = Upto(fault.lasts, &random_);
    network->Lose(connection, loss);
  }
  return true;
}

void FaultInjector::Mend(const Fault& fault) { cluster_->simulator()->network()->Heal(fault.node, fault.other); }

bool FaultInjector::Pause(const Fault& fault) {
  Simulator* simulator = cluster_->simulator();
  const NodeId node = fault.node;
  if (!simulator->process(node)->running()) return false;
  simulator->process(node)->PauseUntil(simulator->now() + fault.lasts);
  return true;
}

bool FaultInjector::StopScheduler(const Fault& fault) {
  if (!cluster_->processes()->IsSchedulerRunning()) return false;
  if (fault.kind == FaultKind::kLongSchedulerStop && fault.is_one_way) return Pause(fault);
  cluster_->processes()->KillScheduler(fault.is_silent);
  return true;
}

bool FaultInjector::DisturbStorage(const Fault& fault) {
  SimulatedProcess* scheduler = cluster_->simulator()->process(fault.node);
  if (!scheduler->running()) return false;
  if (fault.kind == FaultKind::kSlowStorage) {
    scheduler->SlowStorage(kSlowPersistTime);
  } else if (fault.kind == FaultKind::kStallStorage) {
    scheduler->StallStorageUntil(cluster_->simulator()->now() + fault.lasts);
  } else {
    cluster_->processes()->FailStorage();
  }
  return true;
}

void FaultInjector::StartScheduler() {
  cluster_->processes()->MendStorage();
  const bool is_alone_and_runs =
      cluster_->processes()->standby() == nullptr && cluster_->processes()->IsSchedulerRunning();
  if (!is_alone_and_runs) cluster_->processes()->StartScheduler(/*with_records=*/true);
}

// Who has been asked to leave and has not ended yet is waited for.
void FaultInjector::StartNode(NodeId node) {
  if (!cluster_->processes()->IsRunning(node)) return cluster_->processes()->StartNode(node);
  if (!cluster_->processes()->IsAskedToStop(node)) return;
  cluster_->simulator()->agenda()->CallAfter(absl::Milliseconds(50), [this, node] { StartNode(node); });
}

bool FaultInjector::KillWorker(WorkerName worker) {
  const SimulatedWorker* current = cluster_->workers().at(worker);
  if (current->lost() || current->finished() || !cluster_->processes()->IsRunning(worker.node)) return false;
  cluster_->processes()->KillWorker(worker);
  return true;
}

void FaultInjector::StartWorker(WorkerName worker) {
  const SimulatedWorker* current = cluster_->workers().at(worker);
  // A node that starts again brings its workers.
  if (current->dead() && cluster_->processes()->IsRunning(worker.node)) cluster_->processes()->StartWorker(worker);
}

}  // namespace banyan
