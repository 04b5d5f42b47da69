// The state that a history of records leads to. Closed rounds and retired policies leave nothing behind but a number.
//
// Values; thread-compatible.
#ifndef BANYAN_SCHEDULER_STATE_RECOVERED_STATE_H_
#define BANYAN_SCHEDULER_STATE_RECOVERED_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "protocol/record_store.h"
#include "scheduler/state/round_ledger.h"
#include "scheduler/state/state_record.h"

namespace banyan {

struct RecoveredState {
  std::string job;  // empty before the first start
  // The last ones of all starts and jobs: none of them is used again.
  Term last_term;
  Epoch last_epoch;
  PolicyVersion last_policy;
  std::map<NodeId, NodeRecord> nodes;
  // Nodes whose last start belonged to a job that has ended.
  std::set<NodeId> spent_nodes;
  // The job that was running; empty when it had not started or has ended.
  std::vector<PolicyRecord> policies;  // by rising version, without overlay; RetirePolicies leaves those in force
  std::optional<OverlayText> overlay;  // of its last reconfiguration
  std::vector<KeyRecord> keys;
  PrecisionState precision;  // by which rounds are bound
  RoundLedger rounds;
  uint64_t next_barrier = 0;
  std::vector<EpochMember> members;  // of last_epoch, in rising order
  Epoch planned_epoch;               // the last one that has a plan
  PolicyVersion plan_policy;         // of that plan
  std::set<NodeId> removed_nodes;    // by an operator
  JobSettings settings;              // of the job that runs or is about to
  std::optional<EndRecord> end;      // how the last job ended, when no other one has begun

  bool is_running() const { return !policies.empty(); }
  // Returns whether a change of the running job's membership was under way.
  bool is_changing() const { return is_running() && planned_epoch < last_epoch; }
  // Forgets the policies that govern no round of `open`, but for the newest.
  void RetirePolicies(const RoundLedger& open);

  friend bool operator==(const RecoveredState&, const RecoveredState&) = default;
};

// Takes the record into the state. DATA_LOSS says how it contradicts those before; the state is then void.
absl::Status ApplyStateRecord(StateRecord record, RecoveredState& state);
// As that, but for what it says of rounds, which is checked against keys and policies alone.
absl::Status ApplyButRounds(StateRecord record, RecoveredState& state);

// Makes the shortest history that leads to `state`, as one snapshot.
std::string MakeSnapshot(RecoveredState state);

// Replays the snapshot, if there is one, and the records after it. `node_names` are those of the overlay, in order.
// DATA_LOSS names a record that is malformed or contradicts those before it. FAILED_PRECONDITION names one that does
// not fit: it is of another job, or of a node at another position in the overlay. Nodes of jobs that are over may be
// anywhere.
absl::StatusOr<RecoveredState> ReplayStateRecords(const StoredRecords& stored, const std::string& job,
                                                  const std::vector<std::string>& node_names);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_RECOVERED_STATE_H_
