// Carries out what EpochChanger decides: begins an epoch, and lets its members go on by a plan. What it changes and
// what hears of that stands in one place, in the order in which it must happen. Thread-compatible; owned by the core.
//
// Invariants:
// - An epoch is durable before anybody hears of it, and so is its plan.
// - It decides nothing: whose time is up, who falls out and when a change is over, EpochChanger says.
#ifndef BANYAN_SCHEDULER_EPOCHS_EPOCH_CONDUCTOR_H_
#define BANYAN_SCHEDULER_EPOCHS_EPOCH_CONDUCTOR_H_

#include <set>
#include <string>
#include <vector>

#include "core/ids.h"
#include "scheduler/epochs/epoch_reports.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/policy/policy_control.h"
#include "scheduler/rounds/job_barriers.h"
#include "scheduler/rounds/job_quorum.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_registrar.h"
#include "scheduler/rounds/round_announcer.h"
#include "scheduler/scheduler_context.h"
#include "scheduler/state/state_record.h"
#include "scheduler/trace_control.h"
#include "scheduler/transfer/transfer_control.h"

namespace banyan {

class EpochConductor {
 public:
  // The parts of the core that a change concerns. All must outlive this.
  struct Parts {
    JobState* job = nullptr;
    JobMembers* members = nullptr;
    NodeReports* reports = nullptr;
    KeyRegistrar* keys = nullptr;
    JobRounds* rounds = nullptr;
    RoundAnnouncer* announcer = nullptr;
    JobBarriers* barriers = nullptr;
    JobQuorum* quorum = nullptr;
    PolicyControl* policies = nullptr;
    TransferControl* transfers = nullptr;
    TraceControl* traces = nullptr;
    SchedulerContext* context = nullptr;
  };
  explicit EpochConductor(Parts parts) : parts_(parts) {}

  // Begins the first epoch because of `reason`, of the nodes that have joined, with the policy of `decision`.
  void Start(PlanDecision decision, const std::string& reason);
  // Begins the next epoch because of `reason`: without `fallen` and without those who have left, and with those who
  // wait to join and are not `held_back`. Its members are told that the former one is over. Returns who was expelled.
  std::vector<NodeId> Begin(const std::set<NodeId>& fallen, const std::set<NodeId>& held_back,
                            const std::string& reason);
  // Puts the policy of `decision` into force, closes what all members `hold`, binds the other rounds anew, and says so.
  void Finish(PlanDecision decision, const EpochReports& held);
  // A member has left. After the first of an epoch no other round is bound in it.
  void OnLeave(bool is_first);
  // Tells a member that has joined again where the epoch stands: that it has begun because of `reason`, or its plan.
  void SendState(NodeId node, const std::string& reason);

 private:
  const Membership& table() const { return parts_.members->table(); }
  std::vector<NodeId> ExpelMembers(const std::set<NodeId>& fallen);
  std::vector<NodeId> AdmitJoiners(const std::set<NodeId>& held_back);
  void SendPlan(const EpochPlanRecord& plan);

  Parts parts_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_EPOCH_CONDUCTOR_H_
