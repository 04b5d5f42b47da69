// Carries out what JobRounds has decided: makes bindings and closed rounds durable, and tells them to the nodes.
// Thread-compatible; owned by the core.
//
// Invariants:
// - A binding or a closed round is durable before any node hears of it.
#ifndef BANYAN_SCHEDULER_ROUNDS_ROUND_ANNOUNCER_H_
#define BANYAN_SCHEDULER_ROUNDS_ROUND_ANNOUNCER_H_

#include <vector>

#include "core/ids.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/scheduler_context.h"

namespace banyan {

class RoundAnnouncer {
 public:
  // The pointers must outlive this.
  RoundAnnouncer(const JobState* job, JobMembers* members, SchedulerContext* context)
      : job_(job), members_(members), context_(context) {}

  // Counts what was wrong with the message of `node` that led to this outcome.
  void Reject(NodeId node, const RoundOutcome& outcome);
  // Announces the outcome of a message of `node`. REQUIRES: it is no failure.
  void Announce(NodeId node, RoundOutcome outcome);
  // Tells a node of rounds that are closed, and durably so.
  void SendClosed(NodeId node, std::vector<ClosedEverywhere::Entry> rounds);

 private:
  const JobState* job_;
  JobMembers* members_;
  SchedulerContext* context_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_ROUND_ANNOUNCER_H_
