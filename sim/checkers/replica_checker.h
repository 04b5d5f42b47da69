// Checks that workers who share their training state have one model. Thread-compatible; owned by the cluster.
//
// Invariants that it checks:
// - All who have a model after a step have the same, whether they trained it or fetched it. Those who had to begin with
//   their own values, and those who fetched theirs, have another one.
// - Nobody has to begin so while another worker that goes on has a model.
#ifndef BANYAN_SIM_CHECKERS_REPLICA_CHECKER_H_
#define BANYAN_SIM_CHECKERS_REPLICA_CHECKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/checkers/membership_watch.h"
#include "sim/processes/worker_listener.h"
#include "sim/violations.h"

namespace banyan {

class ReplicaChecker : public WorkerListener {
 public:
  // Training ends with step `last_step`. The pointers outlive this.
  ReplicaChecker(uint64_t last_step, const MembershipWatch* membership, Violations* violations)
      : last_step_(last_step), membership_(membership), violations_(violations) {}

  void OnStarted(Timestamp now, WorkerName worker) override;
  void OnEnded(Timestamp now, WorkerName worker) override;
  void OnReplica(Timestamp now, WorkerName worker, const ReplicaMark& replica) override;
  void OnBeganAlone(Timestamp now, WorkerName worker, Timestamp asked_at) override;

  // Models that were compared with another one.
  int64_t compared() const { return compared_; }

 private:
  // A start of a worker.
  struct Life {
    uint32_t start = 0;
    bool is_up = false;
    std::optional<Timestamp> has_model_since;
    uint64_t step = 0;
  };
  struct Variant {
    uint64_t results = 0;
    std::vector<std::pair<WorkerName, WorkerStart>> holders;
  };

  WorkerStart StartOf(WorkerName worker) const { return {lives_.at(worker).start, membership_->StartsOf(worker.node)}; }
  // It goes on, as a worker of a member.
  bool IsThere(WorkerName worker, WorkerStart start) const;

  const uint64_t last_step_;
  const MembershipWatch* const membership_;
  Violations* const violations_;
  std::map<WorkerName, Life> lives_;
  std::map<std::pair<uint64_t, uint64_t>, Variant> variants_;  // by lineage and step
  int64_t compared_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_REPLICA_CHECKER_H_
