// Decides when to plan again, and which policy governs the rounds after that. Link reports, ended rounds and finished
// plans go in. Out comes what to do, with the reason: plan, adopt the new policy, go back to the former one, or keep
// what there is. It sends nothing. Time is handed in. Thread-compatible; owned by the core.
//
// How a policy changes: Look finds a reason and starts a plan; the compute pool makes it; OnPlanFinished judges it on
// the links that it was made from. The new policy is on trial until its rounds have shown that they are not slower.
//
// Invariants:
// - At most one plan is being made. Starting another one makes the one before void.
// - A policy that nobody asked for replaces another only when it promises enough (Judge) and no trial forbids it.
// - What is judged is what the nodes run: the policy in use is valued with the rates that it was published with.
// - What `policies` holds changes only between calls: after kAdopt or kGoBack the owner publishes, then calls
// OnAdopted.
#ifndef BANYAN_SCHEDULER_POLICY_REPLANNER_H_
#define BANYAN_SCHEDULER_POLICY_REPLANNER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/policy/formulation.h"
#include "scheduler/policy/hidden_ways.h"
#include "scheduler/policy/least_delays.h"
#include "scheduler/policy/link_outages.h"
#include "scheduler/policy/link_table.h"
#include "scheduler/policy/plan_computation.h"
#include "scheduler/policy/policy_trial.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/policy/round_times.h"
#include "scheduler/policy/sent_bits.h"
#include "scheduler/policy/traffic_log.h"
#include "scheduler/rounds/key_table.h"
#include "topology/inference/shared_ways.h"
#include "topology/inference/sharing_inference.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Work for the compute pool, whose result is handed to OnPlanFinished.
struct PlanRequest {
  ComputationId id;
  std::unique_ptr<PlanComputation> computation;
};

struct PlanDecision {
  enum class Kind : uint8_t {
    kNone,      // there is nothing to do
    kPostpone,  // there is a reason to plan, but a plan must wait
    kPlan,      // make the plan of `request`
    kKeep,      // the policy in use stays
    kAdopt,     // `policy`, made from `view`, takes its place
    kGoBack,    // `policy`, the one before, comes back, valued on `view`
    kFail,      // there is no plan: `reason` is the planner's
  };
  Kind kind = Kind::kNone;
  std::string reason;
  // Why the policy in use is not taken back although its rounds are slower; empty when they are not.
  std::string note;
  absl::StatusCode code = absl::StatusCode::kOk;  // of kFail
  PlanRequest request;
  Policy policy;
  NetworkView view;
};

class Replanner {
 public:
  // Plans over the nodes and links of `believed`, which is what `overlay` says. The pointers must outlive this.
  Replanner(const OverlayConfig& overlay, NetworkView believed, PlannerConfig planner_config, const KeyTable* keys,
            const PublishedPolicies* policies);

  // Inputs: what happened.

  // A job begins, which finds out its links first.
  void OnBeginning(Timestamp now) { formulation_.NoteBeginning(now); }
  // Takes the measurements of links that leave `from`, and infers from what they carry what they share.
  // INVALID_ARGUMENT names what is wrong with one of the measurements.
  absl::Status OnLinkReport(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links);
  // Takes what `node` has sent of rounds, and what its workers waited for last.
  void OnReport(Timestamp now, NodeId node, const NodeReport& report) {
    sent_bits_.Accept(node, report.precision.all);
    OnRoundEnded(now, node, report.last_sync);
  }
  void OnRoundEnded(Timestamp now, NodeId node, const NodeReport::Synchronisation& last);
  // The model has more tensors now: rounds of the past tell nothing any more.
  void OnModelGrown(Timestamp now);
  // Judges the plan. kNone for one that is void.
  PlanDecision OnPlanFinished(Timestamp now, ComputationId id, PlanComputation& computation);
  // The newest policy, made from `view`, is in force.
  void OnAdopted(Timestamp now, const NetworkView& view);
  // Only the newest policy is in force.
  void OnGoverningAlone(Timestamp now) { round_times_.NoteGoverning(now); }
  // Two members cannot reach each other over their link: it is planned without for a while. Only an epoch's plan is
  // made then: the policy in use cannot be weighed against others without the link.
  void OnLinkCut(Timestamp now, NodeId a, NodeId b, std::string why);
  // Plans with all links again at `latest` or before, since there is no plan without them.
  void ReturnLinksBy(Timestamp latest) { outages_.ReturnBy(latest); }
  // Plans with links again whose time is over. True when there are any.
  bool TakeReturnedLinks(Timestamp now);
  // The job goes on under another overlay, for which PlanForReconfiguration has planned; OnAdopted follows.
  void OnReconfigured(Timestamp now, const OverlayConfig& overlay, NetworkView believed, PlannerConfig planner_config);

  // Plans.

  // Looks for a reason to plan again: kPlan, kPostpone or kNone. REQUIRES: a policy is in use.
  PlanDecision Look(Timestamp now);
  // When Look wants to be called even if nothing happens; kNever while a plan is being made.
  Timestamp NextReturn() const { return outages_.NextDeadline(); }
  Timestamp NextLook() const { return is_planning() || is_cut_ ? kNever : formulation_.NextLook(); }
  // Plans for these nodes, whatever there was. The result of a plan that was asked for is adopted if there is one.
  PlanRequest PlanForStart(Timestamp now, std::vector<NodeId> members);
  // Plans for the members of a new epoch. Nothing that was tried before is judged by their rounds. All wait meanwhile:
  // where the best plan takes long one is made in haste, and a better one is looked for afterwards.
  PlanRequest PlanForEpoch(Timestamp now, std::vector<NodeId> members, std::string reason);
  // Plans for the members with another configuration, which counts for this plan alone until OnReconfigured;
  // `is_for_epoch`: for those of a new epoch.
  PlanRequest PlanForReconfiguration(Timestamp now, std::vector<NodeId> members, const NetworkView& believed,
                                     PlannerConfig planner_config, std::string reason, bool is_for_epoch = false);
  // Makes the plan that is being made void: its computation ends early.
  void DropPlan() {
    if (plan_.has_value()) plan_->unwanted->store(true, std::memory_order_relaxed);
    plan_.reset();
  }

  // After a restart.

  // Takes the links that the records say were measured. REQUIRES: `policies` holds what is in force.
  void Restore(const std::vector<NetworkLink>& measured);
  // The restored job goes on now.
  void OnRestarted(Timestamp now) { formulation_.NotePlanned(now); }

  bool is_planning() const { return plan_.has_value(); }
  bool IsPlanning(ComputationId id) const { return is_planning() && plan_->id == id; }
  // The nodes that the plan is for. REQUIRES: one is being made.
  const std::vector<NodeId>& planned_members() const { return plan_->members; }
  const LinkTable& links() const { return links_; }
  // What links are inferred to share, for status: plans do not use it.
  const std::vector<SharedGroup>& inferred() const { return sharing_.groups(); }
  // Returns the links that others were found to go by way of for the newest plan, by their numbers in
  // links().believed().
  const std::vector<SharedWay>& ways() const { return ways_; }
  const LinkOutages& outages() const { return outages_; }
  // Returns how long a round is predicted to take under the policy in use, as wide as nodes sent elements when it was
  // planned for last; 0 while that is unknown.
  absl::Duration predicted_round() const { return predicted_round_; }
  uint64_t policies_taken_back() const { return trial_.taken_back(); }

 private:
  struct Plan {
    ComputationId id = ComputationId();
    std::vector<NodeId> members;
    NetworkView view;  // that it is made from
    std::string reason;
    double least_gain = kLeastGain;  // that it must promise
    bool is_ordered = false;         // adopted without being judged
    bool is_for_epoch = false;
    std::shared_ptr<std::atomic<bool>> unwanted = {};  // of its computation
  };

  // Returns the links that work, with the values that are known now and what they are found to share, which is found
  // anew.
  NetworkView View();
  void InferSharing(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links);
  // Starts the computation of `plan`, which lacks only its id. Weighs the policy in use unless the plan is ordered.
  PlanRequest Start(Timestamp now, Plan plan, PlannerConfig config);
  // Returns the part of the tensors' bits that nodes send.
  double SentPart(const std::vector<PlannedTensor>& tensors) const;
  // Judges a plan that nobody ordered.
  PlanDecision JudgePlan(Timestamp now, Plan plan, Policy policy, PlanComputation& computation);
  // Decides whether the former policy, whose rounds are predicted to take `predicted` on the plan's links, comes back:
  // kGoBack, or kKeep with the reason. REQUIRES: the trial looks bad.
  PlanDecision EndTrial(Timestamp now, const Plan& plan, absl::Duration predicted);
  // Puts the policy that takes the place of the one in use on trial. A round of the one in use is predicted to take
  // `predicted` on the plan's links.
  void BeginTrial(Timestamp now, const Plan& plan, absl::Duration predicted);
  bool TrialLooksBad(Timestamp now);
  bool IsLearning(Timestamp now) const { return formulation_.IsLearning(now, round_times_.ended()); }
  // From when on ended rounds tell what the links of a plan can do.
  Timestamp EvidenceSince(Timestamp now) const;
  // Counts changes of links and rounds against the newest policy from `now` on.
  void Use(Timestamp now, const NetworkView& view);
  const Policy& InUse() const { return *policies_->Current(); }

  const KeyTable* keys_;
  const PublishedPolicies* policies_;
  LinkTable links_;
  bool infers_sharing_;
  bool infers_ways_;
  std::vector<SharedWay> ways_;  // of the newest plan
  HiddenWays hidden_ways_;
  LeastDelays delays_;  // where ways are inferred
  TrafficLog traffic_;
  SharingInference sharing_;
  LinkOutages outages_;
  bool is_cut_ = false;    // a link of the policy in use
  bool is_hasty_ = false;  // the last plan that was finished
  PlannerConfig planner_config_;
  absl::Duration update_interval_;
  Formulation formulation_;
  RoundTimes round_times_;
  SentBits sent_bits_;
  PolicyTrial trial_;
  ComputationId last_computation_;
  std::optional<Plan> plan_;
  NetworkView published_view_;  // with which the policy in use was published
  absl::Duration predicted_round_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_REPLANNER_H_
