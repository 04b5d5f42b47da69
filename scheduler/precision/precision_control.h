// The precision routes of a job: takes what workers report of the training, lets Commander and Supervisor decide on it
// step by step, and says for each key how its next rounds travel. Thread-compatible; owned by the core.
//
// Invariants:
// - A step is decided once, with the reports of all workers, or with those that came when a later step has all.
// - At most kMostSteps steps wait for reports.
// - Each slice of a key has a route of its own. A key of more than KeyRoutes::kMostSlices stays plain.
// - A key keeps the slices with which it was registered. Where a binding that was edited since has others, a slice goes
//   low-bit only if it lies in one slice of the binding that may.
// - A slice whose low-bit rounds are predicted to take longer stays plain, unless the profile is forced; the prediction
//   is that of a tensor of its size. Nothing waits for predictions, which the compute pool makes: the latest that is
//   finished counts, until then that of the scheduler before this one, and where there is none the slice stays plain.
// - At most one prediction is being made, and none before every member has reported its processors.
#ifndef BANYAN_SCHEDULER_PRECISION_PRECISION_CONTROL_H_
#define BANYAN_SCHEDULER_PRECISION_PRECISION_CONTROL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "precision/audit/route_audit.h"
#include "precision/control/precision_controller.h"
#include "precision/profile/precision_binding.h"
#include "proto/precision/precision_messages.h"
#include "proto/scheduler_messages.h"
#include "proto/status.h"
#include "protocol/event.h"
#include "scheduler/members/job_members.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/precision/endpoint_guard.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/rounds/route_source.h"
#include "scheduler/scheduler_context.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/policy.h"

namespace banyan {

class PrecisionControl : public RouteSource {
 public:
  static constexpr size_t kMostSteps = 64;
  // While more steps wait for reports all slices go in full precision: what is not known to be safe does. Workers that
  // train ahead of others differ by less.
  static constexpr size_t kMostBehind = 4;

  // Without `files` all rounds are plain. The pointers outlive this.
  PrecisionControl(const std::optional<PrecisionFiles>& files, const OverlayConfig* overlay, const KeyTable* keys,
                   const JobMembers* members, SchedulerContext* context);

  bool is_on() const { return controller_.has_value(); }
  // Goes on as a scheduler before this one has decided. Warns where the profile is another one: its numbers count from
  // here on, and what was learned under the former is forgotten.
  void Restore(const PrecisionState& state);
  // Returns a warning for users when the binding has other slices of registered keys than they have; empty if not.
  std::string DescribeOtherSlices() const;
  // Takes what a worker of the node reports.
  void OnHealth(NodeId node, const HealthReport& report);

  // Takes what a node reports of its processors, and how many workers are attached to it.
  void OnReport(NodeId node, const PrecisionReport& report, uint32_t workers_attached) {
    if (!is_on()) return;
    guard_.OnReport(node, report);
    is_guard_due_ = true;
    attached_[node] = workers_attached;
    DecideWhole();
  }
  // Has rounds predicted anew where the policy, or what it was made from, has changed.
  void Review(const Policy& policy, const NetworkView& view);
  // Has rounds bound by the routes of now where these have changed, as soon as no leases are being cut. The change is
  // durable before anybody hears of it, or of the order that made it.
  void AdoptRoutes(JobRounds& rounds);
  // Takes what the compute pool has finished. Returns whether that was a prediction.
  bool OnComputation(ComputationFinished& event);
  // Carries out what an operator orders, or says why not.
  OperatorReply OnOrder(const VetoLowBit& order);

  KeyRoutes RouteOf(KeyId key) const override;
  std::vector<int64_t> BordersOf(const std::string& name, const TensorShape& shape) const override;
  // Returns what a restarted scheduler needs to go on with these routes.
  PrecisionState State() const;

  // What `status` has of it; nothing where there is no profile.
  std::optional<PrecisionStatus> Status(const JobRounds& rounds, const NodeReports& reports) const;

 private:
  using Reports = std::map<std::pair<NodeId, WorkerId>, TrainingHealth>;

  // Returns the scopes of the binding's candidates.
  std::set<std::string> Scopes() const;
  RouteAudit Audit(const JobRounds& rounds) const;
  // Returns what stays in full precision although the binding lets it go low-bit, and why.
  std::vector<std::string> Refused() const;
  // Returns "warm-up", or "decided" with the first of what is refused.
  std::string DescribeState() const;
  // Returns how many workers of the members are to report a step: those that are attached.
  size_t Workers() const;
  bool IsBehind() const { return waiting_.size() > kMostBehind; }
  // Decides on the steps that nobody is awaited for any more.
  void DecideWhole();
  // Returns the slices that the binding has of a tensor; a whole that stays plain where it cannot go low-bit.
  std::vector<SliceBinding> BoundSlices(const std::string& name, const TensorShape& shape) const;
  // Returns the slices of the key, each bound as the binding's that it lies in.
  std::vector<SliceBinding> SlicesOf(KeyId key) const;
  // Returns whether the key and the binding have the same slices.
  bool HasBoundSlices(KeyId key) const;
  GuardedSize SizeOfSlice(KeyId key, const SliceBinding& slice) const;
  // Returns the sizes of the slices that may go low-bit, in rising order.
  std::vector<GuardedSize> CandidateSizes() const;
  // Notes which of these the guard refuses.
  void NoteGuarded();
  bool HasGuard() const { return controller_->profile().has_guard; }
  // Decides on the oldest step that waits.
  void DecideOldest();
  // Says in the log what admission has decided, and what the Supervisor has done since `before`.
  void LogChange(const Supervisor::Record& before);

  const OverlayConfig* overlay_;
  const KeyTable* keys_;
  const JobMembers* members_;
  SchedulerContext* context_;
  PrecisionBinding binding_;
  std::optional<PrecisionController> controller_;
  std::map<int64_t, Reports> waiting_;                         // by step
  std::map<std::pair<NodeId, WorkerId>, int64_t> last_steps_;  // that each has reported
  std::map<NodeId, uint32_t> attached_;                        // workers, as nodes have said
  PrecisionState recorded_;
  bool is_adopted_ = false;  // not before the first look: an earlier start may have had another binding
  bool is_first_ = true;     // that look
  int64_t decided_step_ = 0;
  uint64_t vetoes_ = 0;  // that began
  std::string logged_state_ = "warm-up";
  EndpointGuard guard_;
  std::vector<GuardedSize> guarded_;  // that it refuses, in rising order
  KeyTableVersion guarded_keys_;      // of which these are
  bool is_guard_due_ = true;
  PolicyVersion reviewed_policy_;
  KeyTableVersion reviewed_keys_;
  bool is_predicting_ = false;
  // Apart from those of plans and of overlays.
  ComputationId last_prediction_ = ComputationId(uint64_t{1} << 61);
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PRECISION_PRECISION_CONTROL_H_
