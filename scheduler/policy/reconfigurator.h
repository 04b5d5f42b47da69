// Handles `banyan reconfigure`: has the overlay that an operator wants for the running job read and checked on the
// compute pool, keeps it until its plan is made, and answers. Thread-compatible; owned by the core.
//
// Invariants:
// - At most one reconfiguration is read or pending.
// - Every request is answered once: refused here or by Refuse, or accepted by Accept.
// - Nothing changes here: PolicyControl says when the pending one counts.
#ifndef BANYAN_SCHEDULER_POLICY_RECONFIGURATOR_H_
#define BANYAN_SCHEDULER_POLICY_RECONFIGURATOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/policy/overlay_reading.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/scheduler_context.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planner.h"

namespace banyan {

class Reconfigurator {
 public:
  // The pointers must outlive this; `running` is the overlay of the running job.
  Reconfigurator(const OverlayConfig* running, const JobState* job, const KeyTable* keys,
                 const PublishedPolicies* policies, SchedulerContext* context)
      : running_(running), job_(job), keys_(keys), policies_(policies), context_(context) {}

  // Begins to read what the operator on `connection` wants, or refuses it.
  void Request(ConnectionId connection, const Reconfigure& message);
  // Returns whether this computation reads the overlay.
  bool IsReading(ComputationId id) const { return is_reading_ && id == last_reading_; }
  // Takes the overlay that was read, or refuses it. True when it is pending now. REQUIRES: IsReading.
  bool OnRead(OverlayReading& reading);
  bool is_pending() const { return pending_.has_value(); }
  // From which the newest one came.
  ConnectionId connection() const { return connection_; }
  // Returns whether the plan for it is being made.
  bool is_planning() const { return is_planning_; }

  // The pending one, whose plan is made from now on. REQUIRES: one is pending.
  const Reconfiguration& BeginPlanning();
  // Its plan is void, and must be made again.
  void ReturnToPending() { is_planning_ = false; }
  // Hands over the pending one, which counts from now on; Accept must follow. REQUIRES: one is pending.
  Reconfiguration Take();
  // Tells the operator of the one taken last that it is in force.
  void Accept(std::string text);
  // Refuses the one that is read or pending, if there is one.
  void Refuse(const std::string& why);

 private:
  void RefuseNow(ConnectionId connection, const absl::Status& why);
  absl::Status CheckTime() const;

  const OverlayConfig* running_;
  const JobState* job_;
  const KeyTable* keys_;
  const PublishedPolicies* policies_;
  SchedulerContext* context_;
  std::optional<Reconfiguration> pending_;
  ConnectionId connection_;  // of the operator
  // Apart from those of the Replanner, which count from 1.
  ComputationId last_reading_ = ComputationId(uint64_t{1} << 62);
  bool is_reading_ = false;
  bool is_planning_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_RECONFIGURATOR_H_
