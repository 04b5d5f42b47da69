// The scheduler as a deterministic protocol core: who belongs to the job, which keys it has, how gradients travel, and
// that all nodes agree on it. Thread-compatible; owned by exactly one driver. It sees no gradient.
//
// While rounds run the nodes measure links, and new policies are made, adopted when they promise a gain, and retired
// when no open round is bound to them (NETSTORM, sections VII and VIII). `banyan reconfigure` goes the same way.
//
// A job goes through these phases: nodes join; when membership.start_with have, the planner runs on the compute pool;
// then rounds run until all nodes have left or the job has failed. A failed job stays failed: whoever asks is told why.
//
// The driver keeps the records that it is asked to persist, in order, and hands them to the constructor at the next
// start. It ends the process when it cannot make a record durable.
#ifndef BANYAN_SCHEDULER_SCHEDULER_CORE_H_
#define BANYAN_SCHEDULER_SCHEDULER_CORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/protocol.h"
#include "scheduler/barrier.h"
#include "scheduler/formulation.h"
#include "scheduler/key_table.h"
#include "scheduler/link_table.h"
#include "scheduler/membership.h"
#include "scheduler/node_reports.h"
#include "scheduler/outbox.h"
#include "scheduler/plan_computation.h"
#include "scheduler/policy_trial.h"
#include "scheduler/published_policies.h"
#include "scheduler/recovered_state.h"
#include "scheduler/rejection_counter.h"
#include "scheduler/round_book.h"
#include "scheduler/round_times.h"
#include "scheduler/state_record.h"
#include "scheduler/waiting_keys.h"
#include "topology/network_view.h"
#include "topology/overlay_config.h"
#include "topology/planner.h"

namespace banyan {

struct SchedulerOptions {
  // The bytes of all records persisted by earlier starts, in order; empty for a new job.
  std::vector<std::string> records;
};

class SchedulerCore : public Protocol {
 public:
  // Records that are malformed or of another job, and a `topology` section that names no planner or unknown nodes, make
  // the core stop with an error as soon as it is started. REQUIRES: the overlay comes from ParseOverlay or keeps its
  // promises.
  SchedulerCore(OverlayConfig overlay, SchedulerOptions options);
  ~SchedulerCore() override;

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override;

  // The size of each table that peers can fill, by name, for tests of their limits.
  std::map<std::string, size_t> TableSizes() const;

 private:
  enum class Phase : uint8_t { kJoining, kPlanning, kRunning, kFailed, kEnded, kStopped };

  void Recover(const std::vector<std::string>& records);
  absl::Status RestoreJob(const RecoveredState& state);
  // The job goes on under the overlay of its last reconfiguration, whatever the file says now.
  absl::Status RestoreOverlay(const RecoveredState& state);
  absl::Status RestoreRounds(const RecoveredState& state);
  absl::Status RestorePolicies(const RecoveredState& state);

  // Events.
  void On(const Started& event);
  void On(MessageReceived& event);
  void On(const MessageRejected& event);
  void On(const ConnectionUp&) {}  // the scheduler opens none
  void On(const ConnectionDown& event);
  void On(const DeadlineReached& event);
  void On(const ClientCalled&) {}  // nor has it workers
  void On(ComputationFinished& event);
  void On(const RecordPersisted& event);
  void On(const StopRequested& event);

  // Joining and starting.
  void OnJoin(ConnectionId connection, const Join& join);
  void Refuse(ConnectionId connection, std::string reason);
  void Welcome(ConnectionId connection, const Member& member);
  void MembershipChanged();
  void StartIfComplete();
  // The node takes no part in the start, unless another start of it joins.
  void LeaveBeforeStart(NodeId node);
  // What it has asked for before the start.
  void ForgetRequests(NodeId node);
  void OnSilence(const std::vector<NodeId>& silent);
  // Fails the job when this node waits for what a member that has left will never do: a round that it has pushed, or a
  // barrier. Rounds that the member was still part of have lost_after to end, and what nobody has pushed hurts nobody.
  void CheckDeparture(NodeId node);
  void FailOfDeparture(const std::string& what);

  // Policies: made, adopted, retired.
  struct Plan {
    ComputationId id;
    std::vector<NodeId> members;
    NetworkView view;  // what it is made from
    std::string why;
    double least_gain = kLeastGain;  // that it must promise
  };
  // The computation values the policy in use as well.
  void StartPlan(std::vector<NodeId> members, NetworkView view, PlannerConfig config, std::string why);
  void StartRunning(Plan plan, Policy policy);
  // What the members have asked for before the start.
  void TakeEarlyRequests();
  // Gives the policy the next version, makes it durable, and binds later rounds to it. PublishNewest must follow before
  // any round is bound.
  void Adopt(Policy policy, Plan plan, std::optional<OverlayText> overlay);
  void PublishNewest();
  // Everything that a member needs to know after it has joined.
  void Publish(const Member& member);
  bool MayReplan() const { return phase_ == Phase::kRunning && !plan_.has_value() && !reconfiguration_.has_value(); }
  void ReplanIfWanted();
  void FinishReplan(Plan plan, Policy policy, PlanComputation& computation);
  // The policy in use gives way to another one, `predicted` being what a round of it takes on the plan's view.
  void BeginTrial(const Plan& plan, absl::Duration predicted);
  // Whether the policy in use is on trial, and slower than the one before.
  bool TrialLooksBad();
  // Goes back to the policy before, whose rounds are predicted to take that on the plan's view; false when they would
  // be slower too. REQUIRES: the trial looks bad.
  bool TakeBack(Plan plan, absl::Duration predicted);
  // From when on rounds tell what the links that a plan is for can do.
  Timestamp EvidenceSince() const;
  void RetirePolicies();
  std::map<NodeId, NodeAddress> Addresses() const;

  // Changes of the overlay by `banyan reconfigure`. One at a time; it takes effect when its plan has succeeded.
  struct Reconfiguration {
    ConnectionId connection;
    OverlayConfig overlay;
    NetworkView believed;
    PlannerConfig planner_config;
    OverlayText text;
    std::string changes;
    bool is_planning = false;
  };
  void OnReconfigure(ConnectionId connection, const Reconfigure& message);
  absl::StatusOr<Reconfiguration> CheckReconfiguration(const Reconfigure& message) const;
  void PlanReconfiguration();
  void FinishReconfiguration(Plan plan, absl::StatusOr<Policy> policy);
  // Answers the one that is being planned, if there is one.
  void RefuseReconfiguration(const std::string& why);

  // Messages of nodes that have joined.
  void OnNodeMessage(NodeId node, const Message& message);
  void OnNode(NodeId node, const Heartbeat& message);
  void OnNode(NodeId node, const RegisterKeys& message);
  void OnNode(NodeId node, const PolicyRequest& message);
  void OnNode(NodeId node, const RoundsClosed& message);
  void OnNode(NodeId node, const BarrierEntered& message);
  void OnNode(NodeId node, const PeerLost& message);
  void OnNode(NodeId node, const WorkerLost& message);
  void OnNode(NodeId node, const Leave& message);
  void OnNode(NodeId node, const NodeReport& message);
  template <typename Other>
  void OnNode(NodeId node, const Other& message);

  // False when the job does not run: the node has been told of the failure, or is refused.
  bool NeedsRunning(NodeId node, const char* what);
  void RegisterAll(NodeId node, const std::vector<RegisterKeys::Key>& keys);
  void RefuseKey(NodeId node, const RegisterKeys::Key& key, const std::string& reason);
  void Apply(NodeId node, RoundOutcome outcome);
  // `is_asked_for`: it comes of a stop that somebody asked for, and is logged as such.
  void Fail(absl::StatusCode code, const std::string& reason, bool is_asked_for = false);
  void End();

  void Persist(const StateRecord& record) { outbox_.Persist(EncodeStateRecord(record)); }
  void SendTo(NodeId node, Message message);
  void Broadcast(const Message& message);
  void Reject(const std::string& what);
  // "1 node", "2 nodes".
  static std::string Count(size_t count, const std::string& what);
  void LogInfo(std::string text) { outbox_.Log(LogLevel::kInfo, std::move(text)); }
  MembershipUpdate MakeMembershipUpdate() const;
  JobFailed MakeJobFailed() const;
  std::string MakeStatus() const;
  const std::string& NameOf(NodeId node) const { return membership_.Find(node).name; }
  bool HasBegun() const { return phase_ == Phase::kJoining || phase_ == Phase::kPlanning || phase_ == Phase::kRunning; }

  OverlayConfig overlay_;
  LinkTable links_;
  PlannerConfig planner_config_;
  Formulation formulation_;
  absl::Status start_error_;

  Timestamp now_;
  Phase phase_ = Phase::kJoining;
  Term term_;
  Epoch epoch_;
  PolicyVersion last_policy_;
  absl::Status failure_;
  bool failure_is_asked_for_ = false;
  ComputationId last_computation_;
  std::optional<Plan> plan_;  // that is being made
  std::optional<Reconfiguration> reconfiguration_;
  NetworkView published_view_;               // what the current policy was published with
  absl::Duration predicted_round_;           // under the current policy, by the last planning; 0 when unknown
  std::optional<Timestamp> membership_due_;  // when a change of membership is told
  std::string departed_;                     // the first member that has left, and why
  bool departure_is_asked_for_ = false;      // by whoever runs that node
  std::optional<Timestamp> departure_due_;   // when the others are checked, unless they have been

  Outbox outbox_;
  RejectionCounter rejections_;
  Membership membership_;
  WaitingKeys waiting_keys_;
  KeyTable keys_;
  RoundBook rounds_;
  PublishedPolicies policies_;
  Barrier barrier_;
  NodeReports reports_;
  RoundTimes round_times_;
  PolicyTrial trial_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_SCHEDULER_CORE_H_
