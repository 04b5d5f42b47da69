// The faults of a simulated run, drawn from a seed. Each fault is shorter than what ends a membership, so that a
// correct job survives all of them with all its members. Thread-compatible; outlives the run.
#ifndef BANYAN_SIM_RUNS_FAULTS_H_
#define BANYAN_SIM_RUNS_FAULTS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/random.h"
#include "core/time.h"
#include "sim/cluster.h"

namespace banyan {

struct FaultOptions {
  int faults = 10;
  absl::Duration first = absl::Milliseconds(100);
  absl::Duration last = absl::Seconds(4);
  // All outages together, since any two may hit the same peers one after the other. With the pause before the next
  // attempt to connect they stay below the second after which a member that lost its connection falls out. sim/faults/
  // draws those that are longer.
  absl::Duration longest_in_all = absl::Milliseconds(600);
};

class Faults {
 public:
  // Puts the faults on the cluster's agenda. The cluster outlives this.
  Faults(const FaultOptions& options, uint64_t seed, Cluster* cluster);

  // Draws how a connection breaks, within `outage`.
  static LossOptions RandomLoss(absl::Duration outage, Random* random);

 private:
  void Happen();
  absl::Duration TakeOutage();
  NodeId AnyProcess();
  // Two processes that have connections: joined by a link, or a node and the scheduler.
  std::pair<NodeId, NodeId> AnyPair();

  void LoseConnection();
  void LosePair();
  void PauseProcess();
  void StallLink();
  void ChangeRate();
  void PartitionPair();
  void Note(NodeId process, const std::string& what);

  Random random_;
  Cluster* const cluster_;
  absl::Duration outages_left_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_RUNS_FAULTS_H_
