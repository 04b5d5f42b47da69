// The last report of each node, for status. Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_MEMBERS_NODE_REPORTS_H_
#define BANYAN_SCHEDULER_MEMBERS_NODE_REPORTS_H_

#include <cstddef>
#include <map>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/members/membership.h"

namespace banyan {

class NodeReports {
 public:
  // Keeps the report, which came `now`, in place of the node's last one. INVALID_ARGUMENT for more rows than the
  // overlay and the key table allow, for names that are too long or not printable, or for counts that nobody can have
  // counted.
  absl::Status Accept(NodeId node, const NodeReport& report, size_t node_count, size_t key_count,
                      Timestamp now = Timestamp());

  // Forgets the report of a node that is no member any more.
  void Forget(NodeId node) { reports_.erase(node); }

  // Returns the node's last report; nullptr before the first.
  const NodeReport* Find(NodeId node) const;
  // Returns how long others have gone on since the node last contributed to a round; zero before its first report.
  absl::Duration IdleFor(NodeId node) const;

 private:
  struct Kept {
    NodeReport report;
    Timestamp contributed_at;  // or reported first
  };

  std::map<NodeId, Kept> reports_;
  Timestamp contributed_at_;  // any of them
};

// Returns whether the member, whose last report is `report`, trains nothing: no worker is there, and none has died. It
// has come back after its workers were done, and passes on what others send. False before the first report, and while
// the workers with which the job starts are yet to come.
bool IsHelper(const Member& member, const NodeReport* report);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_NODE_REPORTS_H_
