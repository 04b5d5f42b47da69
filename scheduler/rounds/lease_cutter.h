// Ends leases early when rounds are bound by another policy or other routes, so that these govern soon although leases
// are long. A cut:
//   1. All members are asked (CutSought). Each says which round of each key it has not begun (CutBound), and does not
//      begin it until it hears anew what governs it.
//   2. When all have answered, the first round that nobody has begun is durable (CutRecord), and then told to all
//      (PolicyAnswer): from it on the new policy and routes govern what was leased under others.
// A change of membership drops a cut that is under way, since it binds all rounds anew; so does a newer policy, which
// has its own. Other routes wait until a cut is over. After a restart of the scheduler the cut is sought again.
// Thread-compatible; owned by the core.
//
// Invariants:
// - A round is bound anew only when each member has promised in this epoch, for this cut, not to begin it.
// - When a member leaves the leases stay as they are, and all hear of them: its last rounds end as they began.
// - It waits for members alone: whoever is silent falls out, and ends it.
// - Leases that end soon are left alone, since rounds may have to wait for a cut.
#ifndef BANYAN_SCHEDULER_ROUNDS_LEASE_CUTTER_H_
#define BANYAN_SCHEDULER_ROUNDS_LEASE_CUTTER_H_

#include <map>
#include <set>
#include <string>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/scheduler_context.h"

namespace banyan {

class LeaseCutter {
 public:
  // The pointers must outlive this.
  LeaseCutter(const JobState* job, JobMembers* members, JobRounds* rounds, SchedulerContext* context)
      : job_(job), members_(members), rounds_(rounds), context_(context) {}

  // Begins a cut if leases have not been cut for what rounds are bound by now, or ends one in vain. To be called after
  // whatever happens. REQUIRES: the job runs, and all members were sent the policy.
  void Review();
  // Takes a member's answer. Returns whether that ended the cut.
  bool OnBound(NodeId node, const CutBound& bound);
  // Asks a member again that has joined again.
  void OnRejoined(NodeId node);

  // Says for whom a cut waits; empty when none is under way.
  std::string WaitsFor() const;

 private:
  void Begin();
  CutSought Sought() const { return {job_->term(), job_->epoch(), cut_}; }
  void Finish(const CutRecord& cut);

  const JobState* job_;
  JobMembers* members_;
  JobRounds* rounds_;
  SchedulerContext* context_;
  JobRounds::Rule settled_;  // no lease is to be cut for it any more
  CutId cut_;                // the last one
  JobRounds::Rule rule_;     // for which it was sought
  Timestamp began_at_;
  std::set<NodeId> awaited_;      // its answers
  std::map<KeyId, Round> begun_;  // of the others: the first round that none of them has begun
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_LEASE_CUTTER_H_
