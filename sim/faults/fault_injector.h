// Makes the faults of a schedule happen to a running cluster, and undoes each when its time is over. Thread-compatible;
// outlives the run.
//
// A fault that finds its victim gone already does nothing, and whoever is down when a fault ends that started it is
// started again: after the last fault everybody runs who has not left for good.
#ifndef BANYAN_SIM_FAULTS_FAULT_INJECTOR_H_
#define BANYAN_SIM_FAULTS_FAULT_INJECTOR_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/ids.h"
#include "core/random.h"
#include "core/time.h"
#include "sim/cluster.h"
#include "sim/faults/fault.h"

namespace banyan {

class FaultInjector {
 public:
  // Puts the faults on the cluster's agenda. The cluster outlives this; it was made without the nodes that start late.
  FaultInjector(const std::vector<Fault>& faults, uint64_t seed, Cluster* cluster);

  // The time at which the last fault has been undone.
  Timestamp quiet_at() const { return quiet_at_; }
  // Nodes that have left and do not come back.
  const std::set<NodeId>& gone() const { return cluster_->processes()->gone(); }
  // The faults that found a victim, by kind.
  const std::map<FaultKind, int64_t>& happened() const { return happened_; }

 private:
  // What is drawn for the scheduler happens to the one that leads.
  Fault Aim(Fault fault) const;
  // Returns whether it did anything.
  bool Begin(const Fault& fault);
  void End(const Fault& fault);
  bool LoseConnections(const Fault& fault);
  bool StallLink(const Fault& fault);
  bool Cut(const Fault& fault);
  void Mend(const Fault& fault);
  bool Pause(const Fault& fault);
  bool StopScheduler(const Fault& fault);
  bool DisturbStorage(const Fault& fault);
  void StartScheduler();
  void StartNode(NodeId node);
  void StartWorker(WorkerName worker);
  bool KillWorker(WorkerName worker);

  Random random_;
  Cluster* const cluster_;
  Timestamp quiet_at_;
  std::map<FaultKind, int64_t> happened_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_FAULT_INJECTOR_H_
