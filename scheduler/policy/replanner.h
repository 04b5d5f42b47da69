// Decides when to plan again, and which policy governs the rounds after that. Link reports, ended rounds and finished
// plans go in. Out come plans to be made, and what to do with one that is made: adopt the new policy, go back to the
// former one, or keep what there is. It sends nothing. Time is handed in. Thread-compatible; owned by the core.
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

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "awareness/windowed_minimum.h"
#include "core/check.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/precision/precision_report.h"
#include "proto/scheduler_messages.h"
#include "scheduler/policy/formulation.h"
#include "scheduler/policy/link_outages.h"
#include "scheduler/policy/link_table.h"
#include "scheduler/policy/plan_computation.h"
#include "scheduler/policy/policy_trial.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/policy/round_times.h"
#include "scheduler/policy/traffic_log.h"
#include "scheduler/rounds/key_table.h"
#include "topology/inference/shared_ways.h"
#include "topology/inference/sharing_inference.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// How wide elements are on their way now, whatever codecs and precision routes make of them: what nodes have sent of
// rounds lately, beside the floats that it stands for. Thread-compatible; owned by Replanner.
class SentBits {
 public:
  // Of what a node has sent before, each report with news keeps this part.
  static constexpr double kKept = 0.8;

  // Takes what a node has sent since it began.
  void Accept(NodeId node, const PrecisionReport::Traffic& sent) {
    Node& known = nodes_[node];
    // Another start of the node counts from zero.
    if (sent.full_bytes < known.last.full_bytes) known = Node();
    const double full_bytes = static_cast<double>(sent.full_bytes - known.last.full_bytes);
    if (full_bytes <= 0) return;
    known.sent_bytes =
        kKept * known.sent_bytes + (static_cast<double>(sent.sent_bytes) - static_cast<double>(known.last.sent_bytes));
    known.full_bytes = kKept * known.full_bytes + full_bytes;
    known.last = sent;
  }
  // Returns the mean over what all nodes have sent; `otherwise` while that is nothing.
  double PerElement(double otherwise) const {
    double sent_bytes = 0;
    double full_bytes = 0;
    for (const auto& [id, node] : nodes_) {
      sent_bytes += node.sent_bytes;
      full_bytes += node.full_bytes;
    }
    return full_bytes > 0 ? kFloatBits * sent_bytes / full_bytes : otherwise;
  }

 private:
  static constexpr double kFloatBits = 32;  // which full_bytes count of an element

  struct Node {
    PrecisionReport::Traffic last;
    double sent_bytes = 0;
    double full_bytes = 0;
  };
  std::map<NodeId, Node> nodes_;
};

// Keeps the least delay between two nodes that was measured of late, in either direction. Thread-compatible; owned by
// Replanner.
//
// Why: what goes by way of others shows in delays alone (topology/inference/shared_ways.h), by a twentieth and less.
// Links that are busy all the time measure more than that too much; somewhere in these minutes they were not.
class LeastDelays {
 public:
  // A path that became longer counts as such after this time at the latest.
  static constexpr absl::Duration kWindow = absl::Minutes(10);

  // A delay was measured between `a` and `b`. REQUIRES: `now` is not before the `now` of the call before.
  void Note(Timestamp now, NodeId a, NodeId b, absl::Duration delay) {
    if (delay <= absl::ZeroDuration()) return;
    least_.try_emplace(std::minmax(a, b), kWindow).first->second.Add(now, delay);
  }
  void Forget() { least_.clear(); }

  // Returns `view` with these delays, where there are any.
  NetworkView In(const NetworkView& view) const {
    std::vector<NetworkLink> links(view.links().begin(), view.links().end());
    for (NetworkLink& link : links) {
      const auto found = least_.find(std::minmax(link.from, link.to));
      if (found != least_.end()) link.delay = *found->second.least();
    }
    absl::StatusOr<NetworkView> made = view.WithLinks(std::move(links));
    BANYAN_CHECK(made.ok());
    return *std::move(made);
  }

 private:
  std::map<std::pair<NodeId, NodeId>, WindowedMinimum> least_;
};

// Decides whether plans take links for going by way of others (topology/inference/shared_ways.h). Thread-compatible;
// owned by Replanner.
//
// Why: delays alone find such ways in networks that have none. So they are looked for only where rounds take longer
// than promised although links are known by now, and given up for good where that makes them slower.
//
// Invariants:
// - What was refuted is not suspected again until Forget.
class HiddenWays {
 public:
  // The first rounds find out what links carry, and take long for that. So do later ones that are faster than all
  // before by this factor.
  static constexpr uint64_t kFirstJudged = 3;
  static constexpr double kStillFaster = 0.95;
  // Rounds take so many times as long as promised, one after the other, when links share what nobody knows of.
  static constexpr double kBrokenPromise = 1.2;
  static constexpr uint64_t kBrokenRounds = 2;
  // Plans that know of ways have so many rounds to become adopted. Most of so many after these must be about as fast as
  // the fastest without: to give up what is true costs more than to keep what changes nothing.
  static constexpr uint64_t kUnjudged = 3;
  static constexpr uint64_t kTried = 5;
  static constexpr double kAsFast = 1.05;

  // Notes that a round took `took` where `promised` was promised (0: nothing was). Numbers `ended` ascend; one that
  // came before says nothing new.
  void OnRound(uint64_t ended, absl::Duration took, absl::Duration promised);
  // Starts anew: another overlay.
  void Forget() { *this = HiddenWays(); }

  // Returns whether plans take links for going by way of others.
  bool are_suspected() const { return suspected_at_ > 0 && !is_refuted_; }

 private:
  uint64_t ended_ = 0;         // the last one's number
  uint64_t rounds_ = 0;        // that were noted
  uint64_t broken_ = 0;        // promises, one after the other
  uint64_t suspected_at_ = 0;  // of rounds_; 0: never
  bool is_refuted_ = false;
  absl::Duration fastest_without_ = absl::InfiniteDuration();
  uint64_t slower_ = 0;  // of the rounds that were tried
};

// Work for the compute pool, whose result is handed to OnPlanFinished.
struct PlanRequest {
  ComputationId id;
  std::unique_ptr<PlanComputation> computation;
};

// What a look at links and rounds finds.
struct PlanLook {
  std::string why;                     // to plan again, or why that must wait; empty: there is no reason to plan
  std::optional<PlanRequest> request;  // to be made now
};

// What to do when a plan is made.
struct PlanDecision {
  enum class Kind : uint8_t {
    kKeep,    // the policy in use stays
    kAdopt,   // `policy`, made from `view`, takes its place
    kGoBack,  // `policy`, the one before, comes back, valued on `view`
    kFail,    // there is no plan: `reason` is the planner's
  };
  Kind kind = Kind::kKeep;
  std::string reason;
  // Why the policy in use is not taken back although its rounds are slower; empty when they are not.
  std::string note;
  absl::StatusCode code = absl::StatusCode::kOk;  // of kFail
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
  // Judges the plan. REQUIRES: IsPlanning(id).
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
  // Returns those of `nodes` that only links which are planned without connect with most of them.
  std::set<NodeId> CutOff(const std::set<NodeId>& nodes) const { return outages_.CutOff(links_.believed(), nodes); }
  // Plans with links again whose time is over. True when there are any.
  bool TakeReturnedLinks(Timestamp now);
  // The job goes on under another overlay, for which PlanForReconfiguration has planned; OnAdopted follows.
  void OnReconfigured(Timestamp now, const OverlayConfig& overlay, NetworkView believed, PlannerConfig planner_config);

  // Plans.

  // Looks for a reason to plan again. REQUIRES: a policy is in use.
  PlanLook Look(Timestamp now);
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
