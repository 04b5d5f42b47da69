// Handles `banyan reconfigure`: checks the overlay that an operator wants for the running job, keeps it until its plan
// is made, and answers. Thread-compatible; owned by the core.
//
// Invariants:
// - At most one reconfiguration is pending.
// - Every request is answered once: refused here or by Refuse, or accepted by Accept.
// - Nothing changes before the plan has succeeded.
#ifndef BANYAN_SCHEDULER_POLICY_RECONFIGURATOR_H_
#define BANYAN_SCHEDULER_POLICY_RECONFIGURATOR_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/scheduler_context.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planner.h"

namespace banyan {

// A change that an operator wants for the running job. It fits the job, but need not have a plan.
struct Reconfiguration {
  OverlayConfig overlay;
  NetworkView believed;
  PlannerConfig planner_config;
  OverlayText text;
  std::string changes;  // for the operator

  // Why its plan is made.
  std::string Reason() const;
};

class Reconfigurator {
 public:
  // The pointers must outlive this; `running` is the overlay of the running job.
  Reconfigurator(const OverlayConfig* running, const JobState* job, const KeyTable* keys,
                 const PublishedPolicies* policies, SchedulerContext* context)
      : running_(running), job_(job), keys_(keys), policies_(policies), context_(context) {}

  // Takes what the operator on `connection` wants, or refuses it. True when it is pending now.
  bool Request(ConnectionId connection, const Reconfigure& message);
  bool is_pending() const { return pending_.has_value(); }
  // Returns whether the plan for it is being made.
  bool is_planning() const { return is_planning_; }

  // The pending one, whose plan is made from now on. REQUIRES: one is pending.
  const Reconfiguration& BeginPlanning();
  // Hands over the pending one, whose plan has succeeded; Accept must follow. REQUIRES: one is pending.
  Reconfiguration Take();
  // Tells the operator of the one taken last that it is in force with this policy.
  void Accept(const Reconfiguration& done, PolicyVersion policy);
  // Refuses the pending one, if there is one.
  void Refuse(const std::string& why);

 private:
  absl::StatusOr<Reconfiguration> Check(const Reconfigure& message) const;
  absl::Status CheckTime() const;

  const OverlayConfig* running_;
  const JobState* job_;
  const KeyTable* keys_;
  const PublishedPolicies* policies_;
  SchedulerContext* context_;
  std::optional<Reconfiguration> pending_;
  ConnectionId connection_;  // of the operator
  bool is_planning_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_RECONFIGURATOR_H_
