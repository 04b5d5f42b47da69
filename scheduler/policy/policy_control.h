// Has plans made and puts policies into force: at the start, when links have changed, for another epoch, and as an
// operator wants it. Thread-compatible; owned by the core.
//
// Its parts:
//   Replanner        when to plan again, and which policy to use
//   PolicyPublisher  makes policies durable and tells them
//   Reconfigurator   what an operator wants to change
//   LeaseCutter      ends leases early, so that a new policy governs soon
//
// Invariants:
// - At most one plan is being made. A plan for another epoch makes the one before void, and so does a reconfiguration
//   where nobody has ordered that. The computation of a void plan ends early, so that none waits for it.
// - While membership changes nothing but the plan for the epoch is made.
// - A reconfiguration that waits when the plan for an epoch is made is planned for with it. When there is a plan
//   without it alone, it is refused. When there is none either way it counts from then on: it may let those in who are
//   missing.
#ifndef BANYAN_SCHEDULER_POLICY_POLICY_CONTROL_H_
#define BANYAN_SCHEDULER_POLICY_POLICY_CONTROL_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/time.h"
#include "protocol/event.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/policy/policy_publisher.h"
#include "scheduler/policy/reconfigurator.h"
#include "scheduler/policy/replanner.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_registrar.h"
#include "scheduler/rounds/lease_cutter.h"
#include "scheduler/scheduler_context.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

class PolicyControl {
 public:
  // The pointers must outlive this; a reconfiguration changes `overlay`.
  PolicyControl(OverlayConfig* overlay, const JobState* job, KeyRegistrar* keys, JobRounds* rounds, JobMembers* members,
                SchedulerContext* context);

  // Begins to plan by the overlay as it is now. INVALID_ARGUMENT names what there is no planner for.
  absl::Status Configure();

  // Plans for the nodes that start the job.
  void PlanForStart(std::vector<NodeId> members);
  // Plans for the members of another epoch, because of `reason`.
  void PlanForEpoch(std::vector<NodeId> members, const std::string& reason);
  // Makes the plan that is being made void.
  void DropPlan();
  // DropPlan, and there will be none before another epoch, because of `why`.
  void AwaitMembers(const std::string& why);
  // Takes the measurements of links that leave `from`, and plans again if they give a reason. INVALID_ARGUMENT names
  // what is wrong with one of them.
  absl::Status OnLinkReport(NodeId from, const std::vector<NodeReport::Link>& links);
  // Plans again if links or rounds give a reason.
  void ReplanIfWanted();
  // Returns whether links have returned since the last call, which may lead to who waits to join.
  bool TakeLinksReturned() { return std::exchange(have_links_returned_, false); }
  bool have_links_returned() const { return have_links_returned_; }
  // Takes what the compute pool has finished. A plan for the start or for an epoch is returned; Adopt may follow.
  std::optional<PlanDecision> OnComputation(ComputationFinished& event);
  // Puts the policy of the decision into force, and binds later rounds to it. Members hear of it by Announce.
  void Adopt(PlanDecision decision);
  // Tells all members the newest policy, and retires those that govern no open round.
  void Announce();
  void RetirePolicies();

  // Takes what an operator wants, or refuses it.
  void Reconfigure(ConnectionId connection, const banyan::Reconfigure& message);
  // Membership changes no more: goes on with what has waited.
  void Resume();

  // Ends leases that are outdated, as far as that is not done or under way. To be called after each step.
  void ReviewLeases() { cutter_.Review(); }
  // Takes a member's answer in a cut of leases.
  void OnCutBound(NodeId node, const CutBound& bound) {
    if (cutter_.OnBound(node, bound)) RetirePolicies();
  }
  const LeaseCutter& cutter() const { return cutter_; }
  // A member has joined again, and was told where the epoch stands.
  void OnRejoined(NodeId node) { cutter_.OnRejoined(node); }

  // When ReplanIfWanted has something to do.
  Timestamp NextDeadline() const;
  // Returns whether the last plan for an epoch failed, and none is being made. Empty when it did not.
  const std::string& epoch_failure() const { return epoch_failure_; }

  Replanner& replanner() { return replanner_; }
  const Replanner& replanner() const { return replanner_; }
  PolicyPublisher& publisher() { return publisher_; }
  const PublishedPolicies& policies() const { return publisher_.policies(); }
  Reconfigurator& reconfigurator() { return reconfigurator_; }

 private:
  enum class Purpose : uint8_t { kNone, kStart, kChange, kReconfiguration, kEpoch };

  void Start(Purpose purpose, PlanRequest request);
  bool MayReplan() const;
  void PlanReconfiguration();
  void FinishReplan(PlanDecision decision);
  void FinishReconfiguration(PlanDecision decision);
  std::optional<PlanDecision> FinishEpoch(PlanDecision decision);
  // Puts the reconfiguration that waits into force, if there is one, although there is no plan for the epoch.
  void AcceptWithoutPlan();
  // Changes to the overlay that is wanted.
  void Change(Reconfiguration& done);
  // Lets all in that were removed, and tells the operator that it is done. REQUIRES: its overlay is recorded.
  void Accept(const Reconfiguration& done, const std::string& outcome);
  // Binds rounds to the newest policy from now on.
  void UseNewest();

  OverlayConfig* overlay_;
  const JobState* job_;
  KeyRegistrar* keys_;
  JobRounds* rounds_;
  JobMembers* members_;
  SchedulerContext* context_;
  PolicyPublisher publisher_;
  Reconfigurator reconfigurator_;
  Replanner replanner_;
  LeaseCutter cutter_;
  Purpose purpose_ = Purpose::kNone;
  bool have_links_returned_ = false;
  std::vector<NodeId> epoch_members_;
  std::string epoch_reason_;
  std::string epoch_failure_;
  std::string joint_failure_;  // why there is no plan with the reconfiguration that waits, while one without is made
  std::string too_few_;        // why no plan is made for this epoch
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_POLICY_CONTROL_H_
