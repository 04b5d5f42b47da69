// The scheduler as a deterministic protocol core: who belongs to the job, which keys it has, how gradients travel, and
// that all nodes agree on it. It sees no gradient. Thread-compatible; owned by exactly one driver.
//
// This class is a switchboard. It hands each event to the part that it concerns, and passes on what the parts decide:
//   JobState        the phase of the job
//   JobMembers      who belongs to it
//   EpochChanger    when that changes while it runs; EpochConductor: how
//   KeyRegistrar    its keys; JobRounds: which policy governs which round; JobBarriers
//   PolicyControl   when to plan, and which policy to use
//   PrecisionControl  how rounds travel: full precision or votes
//   TraceControl     the rounds that somebody wants to look into
//   JobRestorer     what the records of earlier starts say
//
// A job goes through these phases: nodes join; when membership.start_with have, the planner runs on the compute pool;
// then rounds run until all nodes have left or an operator stops the job. Nodes that fall out, come back or are new
// change its membership. What no membership can mend fails it. A failed job stays failed: whoever asks is told why.
// When the job is over the core may stop: with OK, or with the failure.
//
// Invariants:
// - What a message reveals is durable before it leaves (Outbox).
// - The driver keeps the records that it is asked to persist, in order, and hands them in at the next start. It ends
//   the process when it cannot make a record durable.
// - A snapshot takes the place of all records whenever they outgrow it (StateLog), so that no job fills the storage.
#ifndef BANYAN_SCHEDULER_SCHEDULER_CORE_H_
#define BANYAN_SCHEDULER_SCHEDULER_CORE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "protocol/protocol.h"
#include "protocol/record_store.h"
#include "scheduler/complaints.h"
#include "scheduler/epochs/epoch_changer.h"
#include "scheduler/epochs/epoch_conductor.h"
#include "scheduler/farewell.h"
#include "scheduler/job_restorer.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/policy/policy_control.h"
#include "scheduler/precision/precision_control.h"
#include "scheduler/push_order.h"
#include "scheduler/rounds/job_barriers.h"
#include "scheduler/rounds/job_quorum.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_registrar.h"
#include "scheduler/rounds/round_announcer.h"
#include "scheduler/scheduler_context.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/state/state_log.h"
#include "scheduler/trace_control.h"
#include "scheduler/transfer/transfer_control.h"
#include "scheduler/wait_answers.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

struct SchedulerOptions {
  // What earlier starts have persisted; empty for a new job.
  StoredRecords stored;
  // A random number, another one at each start.
  StartId start = {};
  // Fewer bytes of records make no snapshot due.
  size_t least_tail_bytes = StateLog::kLeastTailBytes;
  // Of messages that wait for records to be durable.
  size_t most_held_bytes = kMaxHeldBytes;
  // Stops some time after the job is over, instead of telling of it until it is asked to stop.
  bool ends_with_job = false;
  // Begins another job when the records say that the last one is done or was stopped. Else that is told to nodes for as
  // long as one may be silent, and the core stops with ALREADY_EXISTS. One that has failed is followed by another in
  // any case.
  bool begins_another = true;
  // What the files of the overlay's `precision` say.
  std::optional<PrecisionFiles> precision = std::nullopt;
  // Where the scheduler listens without keys; empty: nobody comes in without.
  std::string keyless_address = {};
  // Where the records are kept, in words: "in /var/lib/banyan". Empty: not told.
  std::string storage = {};
};

class SchedulerCore : public Protocol {
 public:
  // Goes on with the job of the records under `overlay`. Stops with an error as soon as it is started when the records
  // are malformed or of another job, or when `topology` names no planner or unknown nodes. REQUIRES: the overlay comes
  // from ParseOverlay or keeps its promises.
  SchedulerCore(OverlayConfig overlay, SchedulerOptions options);
  ~SchedulerCore() override = default;
  SchedulerCore(const SchedulerCore&) = delete;
  SchedulerCore& operator=(const SchedulerCore&) = delete;

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override;

  // The size of each table that peers can fill, by name, for tests of their limits.
  std::map<std::string, size_t> TableSizes() const;

 private:
  // Takes what the records say; an error keeps the core from starting.
  absl::Status Restore(const StoredRecords& stored);
  absl::Status RestoreRunningJob(const JobRestorer& restorer);

  // Events of the driver.
  void On(const Started& event);
  void On(MessageReceived& event);
  void On(const MessageRejected& event);
  void On(const ConnectionUp&) {}  // the scheduler opens none
  void On(const ConnectionDown& event);
  void On(const ConnectFailed&) {}
  void On(const PacketsOvertook&) {}
  void On(const ConnectionAccepted& event) { members_.NoteOrigin(event); }
  void On(const DeadlineReached& event);
  void On(const WorkerCalled&) {}  // nor has it workers
  void On(const StateCalled&) {}
  void On(ComputationFinished& event);
  void On(const RecordPersisted& event);
  void On(const StopRequested&) {
    if (!job_.IsOver()) context_.LogInfo(absl::StrCat("asked to stop; job '", job_.job(), "' goes on when it is back"));
    stop_ = absl::OkStatus();
    policies_.DropPlan();
    StopIfDurable();
  }

  // Messages of nodes that have joined.
  void OnNodeMessage(NodeId node, const Message& message);
  void OnNode(NodeId node, const Heartbeat& message) { members_.AnswerHeartbeat(node, message); }
  void OnNode(NodeId node, const HealthReport& message) {
    if (job_.IsRunning()) precision_.OnHealth(node, message);
  }
  void OnNode(NodeId node, const RegisterKeys& message);
  void OnNode(NodeId node, const PolicyRequest& message);
  void OnNode(NodeId node, const CutBound& message) {
    if (NeedsRunning(node, "a cut")) policies_.OnCutBound(node, message);
  }
  void OnNode(NodeId node, const RoundsClosed& message);
  void OnNode(NodeId node, const RoundsPushed& message) { quorum_.On(node, message); }
  void OnNode(NodeId node, const BarrierEntered& message) {
    if (job_.IsStarting() || NeedsRunning(node, "a barrier")) barriers_.Enter(node, message);
  }
  void OnNode(NodeId node, const EpochReport& message) {
    if (NeedsRunning(node, "an epoch")) epochs_.OnEpochReport(node, message);
  }
  void OnNode(NodeId node, const PeerLost& message) {
    if (job_.IsRunning()) epochs_.OnPeerLost(node, message);
  }
  void OnNode(NodeId node, const WorkerLost& message);
  void OnNode(NodeId node, const CannotFollow& message) {
    Exclude(node, DescribeComplaint(members_.NameOf(node), message));
  }
  void OnNode(NodeId node, const RoundBroken& message);
  void OnNode(NodeId node, const Leave& message);
  void OnNode(NodeId node, const NodeReport& message);
  void OnNode(NodeId node, const WaitQuestion& message);
  void OnNode(NodeId node, const StateWanted& message) {
    // Whoever has left may have a worker that came too late.
    if (!members_.AnswerOver(node)) OnOfState(node, message);
  }
  void OnNode(NodeId node, const BoundaryHeld& message) { OnOfState(node, message); }
  void OnNode(NodeId node, const NoState& message) { OnOfState(node, message); }
  void OnNode(NodeId node, const FetchEnded& message) { OnOfState(node, message); }
  void OnNode(NodeId node, const TraceReady& message) { traces_.On(node, message); }
  void OnNode(NodeId node, const TracePiece& message) { traces_.On(node, message); }
  // Messages about training states.
  template <typename Message>
  void OnOfState(NodeId node, const Message& message) {
    if (!NeedsRunning(node, "a training state")) return;
    transfers_.On(node, message);
    // Nobody need wait in a barrier for whoever fetches.
    barriers_.Review();
  }
  template <typename Other>
  void OnNode(NodeId node, const Other& message);
  // Tells all nodes how they differ, unless they do not.
  void SendDisorder(const std::string& disorder);

  // Messages of operators, on connections that do not join.
  bool OnOperator(ConnectionId connection, const Message& message);
  void OnOrder(ConnectionId connection, const Reconfigure& order) { policies_.Reconfigure(connection, order); }
  void OnOrder(ConnectionId connection, const StopJob& order) {
    context_.outbox.Send(connection, OperatorReply{!job_.IsOver(), Stop(order)});
  }
  void OnOrder(ConnectionId connection, const RemoveNode& order) {
    context_.outbox.Send(connection, epochs_.Remove(order));
  }
  void OnOrder(ConnectionId connection, const VetoLowBit& order) { context_.outbox.Send(connection, Carry(order)); }
  void OnOrder(ConnectionId connection, const TraceRounds& order) { traces_.On(connection, order); }
  // Has nodes go on without workers for which the others have waited too long, where the overlay says so.
  void LeaveOutLost();
  std::string Stop(const StopJob& order);
  OperatorReply Carry(const VetoLowBit& order) {
    if (!job_.IsRunning()) return {false, "the job does not run"};
    OperatorReply reply = precision_.OnOrder(order);
    ReviewRounds();  // which makes it durable, before the answer leaves
    return reply;
  }

  // Members.
  void OnJoin(ConnectionId connection, const Join& join);
  // Tells it to the nodes, and plans anew if the job has not started.
  void OnMembershipChanged();
  // Lets those join before the start whose place another start of the node has left.
  void AdmitBeforeStart();
  // The node takes no part in the start, unless another start of it joins.
  void LeaveBeforeStart(NodeId node);
  // Forgets what the node has asked for before the start.
  void ForgetRequests(NodeId node);
  void StartIfComplete();
  void FinishStart(PlanDecision decision);
  // Those who have joined cannot train, perhaps because only absent nodes connect them. Fails the job if none is
  // absent.
  void WaitForMore(const PlanDecision& decision);

  // Returns whether all members have left because their work is done, but for those who only help.
  bool IsDone() const;

  // Rounds.
  // True while the job runs; otherwise tells the node of the failure, or rejects its message about `what`.
  bool NeedsRunning(NodeId node, const char* what);
  void Apply(NodeId node, RoundOutcome outcome);
  void AnswerEarlyRequests();
  // Closes the node's connection: it says again what was forgotten.
  void HaveAskAnew(NodeId node);
  // The node cannot go on with the others, and falls out.
  void Exclude(NodeId node, const std::string& why) {
    if (job_.IsRunning()) epochs_.Exclude(node, why);
  }

  // Lets rounds go as the newest policy and the health of the training have it, those too that are bound otherwise and
  // that nobody has begun. To be called after each step.
  void ReviewRounds() {
    const Policy* const policy = policies_.policies().Current();
    if (policy != nullptr) precision_.Review(*policy, policies_.publisher().view());
    precision_.AdoptRoutes(rounds_);
    policies_.ReviewLeases();
  }

  // Fails the job unless it is over; `is_asked_for` when somebody asked for the stop.
  void Fail(absl::StatusCode code, const std::string& reason, bool is_asked_for = false);
  void End();
  void EndAs(const absl::Status& how) { how.ok() ? End() : Fail(how.code(), std::string(how.message())); }
  // Bounds what waits for a storage that stands still: closes the connections for which it waits, so that nodes join
  // again and hear how things are then. When the job is over it forgets what else there is to say to nodes, and closes
  // connections of operators alone, if their answers are too many.
  void OnSlowStorage();
  // Says that the storage of the state stands, and that it goes on. To be called after each step.
  void ReviewStorage();
  // Says for how long the storage of the state has stood; empty when it does not, or not for long.
  std::string DescribeStorage() const;
  // Does not start: the driver is told why, or OK when nothing is left to do.
  void StopAtOnce(LogLevel level, const absl::Status& status, const std::string& why);
  // Returns whether the records say that the job is over and that no other one is to begin. Only says so from then on.
  bool IsOverBefore();
  // Stops when the job is over and has been for long enough.
  void StopAfterFarewell();
  // Stops if that is wanted and all that was said of the end is durable.
  void StopIfDurable();
  JobStatus Status() const;
  WaitAnswers MakeWaitAnswers() const;

  OverlayConfig overlay_;
  absl::Status start_error_;
  SchedulerContext context_;
  StateLog state_log_;
  std::optional<absl::Status> stop_;         // with which the core is to stop
  std::optional<absl::Status> over_before_;  // likewise, of a job that was over before this start
  const bool ends_with_job_;
  const bool begins_another_;
  const std::string keyless_address_;
  const std::string storage_;
  std::optional<Timestamp> stands_since_;  // the storage, as was logged
  Farewell farewell_;
  std::vector<NodeId> unplannable_;  // who had joined when there was no plan for the start
  Timestamp last_progress_;          // when a round was closed, or the job began
  std::pair<KeyId, Round> awaited_;  // the oldest open round at the last look of LeaveOutLost
  Timestamp awaited_since_;          // that of its first look
  Timestamp looked_at_;              // that of its last one
  JobState job_;
  JobMembers members_;
  NodeReports reports_;
  KeyRegistrar keys_;
  JobRounds rounds_;
  JobQuorum quorum_;
  PushOrder order_;
  RoundAnnouncer announcer_;
  JobBarriers barriers_;
  PolicyControl policies_;
  TransferControl transfers_;
  PrecisionControl precision_;
  TraceControl traces_;
  EpochConductor conductor_;
  EpochChanger epochs_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_SCHEDULER_CORE_H_
