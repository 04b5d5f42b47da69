// Says for whom the members of a job wait: the open round that some have pushed and others have not, or not finished.
// Pure function.
#ifndef BANYAN_SCHEDULER_OPEN_ROUND_H_
#define BANYAN_SCHEDULER_OPEN_ROUND_H_

#include <optional>
#include <vector>

#include "core/ids.h"
#include "scheduler/members/membership.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"

namespace banyan {

struct OpenRound {
  KeyId key;
  Round round;
  std::vector<NodeId> not_pushed;  // members whose workers have not pushed it
  std::vector<NodeId> not_held;    // members that do not hold its result; empty while some have not pushed
};

// Looks at one round of a key that exists; nobody is named when it is closed. Nodes that abstain, as they have no
// worker or one that came later and is not in step, are not awaited.
OpenRound LookAt(KeyId key, Round round, const JobRounds& rounds, const Membership& members,
                 const NodeReports& reports);

// Returns the oldest round that is open and that some member has pushed, of several keys' the first key's; empty
// without one. What nodes have pushed is as old as their last reports.
std::optional<OpenRound> FindOpenRound(const KeyTable& keys, const JobRounds& rounds, const Membership& members,
                                       const NodeReports& reports);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_OPEN_ROUND_H_
