// The state that the records of earlier starts lead to, taken together. Pure function on values; thread-compatible.
#ifndef BANYAN_SCHEDULER_STATE_RECOVERED_STATE_H_
#define BANYAN_SCHEDULER_STATE_RECOVERED_STATE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/state/state_record.h"

namespace banyan {

struct RecoveredState {
  // The last ones of all starts and jobs: none of them is used again.
  Term last_term;
  Epoch last_epoch;
  PolicyVersion last_policy;
  std::map<NodeId, NodeRecord> nodes;
  // Nodes whose last start belonged to a job that has ended.
  std::set<NodeId> spent_nodes;
  // The job that was running; empty when it had not started or has ended.
  std::vector<PolicyRecord> policies;  // by rising version, long retired ones among them
  std::vector<RegisterKeys::Key> keys;
  std::vector<PolicyAnswer::Binding> bindings;
  std::vector<ClosedEverywhere::Entry> closed;
  uint64_t next_barrier = 0;

  bool is_running() const { return !policies.empty(); }
};

// Replays the records in order. `node_names` are those of the overlay, in order. DATA_LOSS names a record that is
// malformed or contradicts those before it. FAILED_PRECONDITION names one that does not fit: it is of another job, or
// of a node at another position in the overlay.
absl::StatusOr<RecoveredState> ReplayStateRecords(const std::vector<std::string>& records, const std::string& job,
                                                  const std::vector<std::string>& node_names);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_RECOVERED_STATE_H_
