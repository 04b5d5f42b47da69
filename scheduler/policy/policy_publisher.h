// Puts policies into force: gives each the next version, makes it durable, tells every member its slice, and retires it
// when no open round needs it. Thread-compatible; owned by the core.
//
// Invariants:
// - Versions rise by one with each policy, over all starts of the scheduler.
// - A policy is durable before any member hears of it.
// - Members hear of a policy before any of their rounds is bound to it: after Put comes SendNewest, in the same step.
#ifndef BANYAN_SCHEDULER_POLICY_POLICY_PUBLISHER_H_
#define BANYAN_SCHEDULER_POLICY_POLICY_PUBLISHER_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/scheduler_context.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/policy.h"

namespace banyan {

class PolicyPublisher {
 public:
  // The pointers must outlive this.
  PolicyPublisher(const OverlayConfig* overlay, const JobState* job, const KeyTable* keys, JobMembers* members,
                  SchedulerContext* context)
      : overlay_(overlay), job_(job), keys_(keys), members_(members), context_(context) {}

  // Puts `policy`, made from `view` because of `reason`, into force. `overlay` is the text of the reconfiguration that
  // asked for it, if one did.
  void Put(Policy policy, std::string reason, const NetworkView& view, std::optional<OverlayText> overlay);
  // Sends every member its slice of the newest policy.
  void SendNewest();
  // Sends a member that has joined the slices of all policies in force.
  void SendAll(NodeId member);
  // Retires the policies below `oldest`, and tells all members if there were any.
  void Retire(PolicyVersion oldest);

  // Continues the versions of earlier starts after `last`.
  void RestoreVersion(PolicyVersion last) { last_version_ = last; }
  // Takes a recorded policy that open rounds may need, and the view that it was made from.
  void Restore(const PolicyRecord& record, const NetworkView& view);

  const PublishedPolicies& policies() const { return policies_; }
  PolicyVersion last_version() const { return last_version_; }
  // Returns the view that the newest policy was made from.
  const NetworkView& view() const { return view_; }

 private:
  std::map<NodeId, NodeAddress> Addresses() const;
  // Returns the member whose values are the best to begin with: one that has workers, or at least values of broadcasts
  // that are open, and that has been there longest.
  NodeId ChooseSource(const std::vector<NodeId>& members) const;

  const OverlayConfig* overlay_;
  const JobState* job_;
  const KeyTable* keys_;
  JobMembers* members_;
  SchedulerContext* context_;
  PublishedPolicies policies_;
  PolicyVersion last_version_;
  NetworkView view_;  // that the newest policy was made from
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_POLICY_PUBLISHER_H_
