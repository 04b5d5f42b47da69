// The members' reports of what they hold, for the plan of one epoch. Thread-compatible; owned by EpochChanger.
//
// Invariants:
// - The keys do not change while reports are collected.
// - Only those count who were members under the last plan: whoever is new holds nothing, and nobody waits for what it
//   lacks.
#ifndef BANYAN_SCHEDULER_EPOCHS_EPOCH_REPORTS_H_
#define BANYAN_SCHEDULER_EPOCHS_EPOCH_REPORTS_H_

#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class EpochReports {
 public:
  // Collects for `epoch`. Of its `members` the `survivors` count. The key table has `key_count` rows.
  void Begin(Epoch epoch, std::set<NodeId> members, std::set<NodeId> survivors, size_t key_count);
  // Takes a member's report; one for an earlier epoch is passed over. INVALID_ARGUMENT says what is wrong with it.
  absl::Status Accept(NodeId node, const EpochReport& report);

  bool IsComplete() const { return missing_.empty(); }
  // Returns whether some member that has reported has all replicas that an optimizer works on.
  bool HasReplica() const { return has_replica_; }
  // Returns the members that have not reported yet.
  const std::set<NodeId>& missing() const { return missing_; }
  // Returns from which round on some survivor lacks the key's results; empty when nobody survives. REQUIRES: complete.
  std::optional<Round> LeastNext(KeyId key) const;

 private:
  absl::Status Check(const EpochReport& report) const;
  void Lower(const EpochReport& report);

  Epoch epoch_;
  std::set<NodeId> missing_;
  std::set<NodeId> survivors_;
  bool has_replica_ = false;
  std::vector<Round> least_next_;  // by KeyId - 1
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_EPOCH_REPORTS_H_
