// The protocol of one node: joins the job, sums its workers, aggregates and forwards. A deterministic state machine:
// see protocol/protocol.h. It hands each event to the part that the event concerns: SchedulerClient (the conversation
// with the scheduler), PolicyTable (what it said), PeerNetwork (the neighbours), RoundEngine (aggregation) and
// LocalWorkers (the workers). Thread-compatible; owned by exactly one driver.
//
// Invariants:
// - Network, engine and local workers exist from the time that the scheduler has let this node in, and then for good.
// - Calls and greetings that come before wait for that; their number is bounded.
// - The first failure is final: every call that waits and every later one ends with it.
// - A node whose workers are done stays until each round it took part in is closed everywhere. It also leaves when the
//   job fails or a stop has waited long enough. NodeEnd says when it stops.
// - The scheduler says who is a member. A neighbour that is lost is evidence for it, and no more; so is its own
// silence.
#ifndef BANYAN_NODE_NODE_CORE_H_
#define BANYAN_NODE_NODE_CORE_H_

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "compression/chunk_device.h"
#include "core/time.h"
#include "node/computation_table.h"
#include "node/epoch_state.h"
#include "node/peers/peer_network.h"
#include "node/policy_table.h"
#include "node/round_tracer.h"
#include "node/rounds/round_engine.h"
#include "node/scheduler_client.h"
#include "node/state_transfers.h"
#include "node/step_context.h"
#include "node/transcript/node_script.h"
#include "node/workers/local_workers.h"
#include "proto/scheduler_messages.h"
#include "proto/transcript/node_transcript.h"
#include "protocol/protocol.h"
#include "protocol/worker_call.h"

namespace banyan {

// When a node's core stops, and with which status. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - The first status stands.
class NodeEnd {
 public:
  // The programs that stop daemons kill those that take much longer.
  static constexpr absl::Duration kLongestFarewell = absl::Seconds(5);

  // `with_job`: also when the job is over, and not only when it is asked to.
  explicit NodeEnd(bool with_job) : with_job_(with_job) {}

  // It stops now.
  void Stop(absl::Status status) {
    due_ = kNever;
    if (!status_.has_value()) status_ = std::move(status);
  }
  // Somebody asks for a stop. It comes in kLongestFarewell at the latest, so that others get what they still need.
  void Ask(Timestamp now) {
    is_asked_for_ = true;
    due_ = std::min(due_, now + kLongestFarewell);
  }
  // Others need nothing from the node any more.
  void OnLeft() {
    if (is_asked_for_) Stop(absl::OkStatus());
  }
  // The scheduler says that the job is over.
  void OnJobOver(absl::Status status) {
    if (with_job_) Stop(std::move(status));
  }
  // The node cannot go on. The scheduler, which may still have to hear of it, says in kLongestFarewell how the job is.
  void OnFailure(Timestamp now, const absl::Status& status) {
    if (!with_job_ || is_asked_for_ || failure_.has_value()) return;
    failure_ = status;
    due_ = now + kLongestFarewell;
  }
  // Returns whether it is time for Stop(due_status()).
  bool IsDue(Timestamp now) const { return now >= due_; }
  absl::Status due_status() const { return failure_.value_or(absl::OkStatus()); }
  Timestamp NextDeadline() const { return due_; }
  // Returns the status with which the core stops; empty until it does.
  const std::optional<absl::Status>& status() const { return status_; }

 private:
  const bool with_job_;
  bool is_asked_for_ = false;
  Timestamp due_ = kNever;
  std::optional<absl::Status> failure_;
  std::optional<absl::Status> status_;
};

// A node's part in ending leases early. Forgets in `policy_table` what governs the rounds that `engine` has not begun,
// and has `scheduler` asked for them. Returns the answer, whose promise needs
// nothing else: a round without a policy does not begin.
inline CutBound CutLeases(const CutSought& sought, const RoundEngine& engine, PolicyTable& policy_table,
                          SchedulerClient& scheduler) {
  CutBound bound = {sought.term, sought.epoch, sought.cut, {}};
  for (const auto& [key, row] : policy_table.keys()) {
    const Round first = engine.FirstNotBegun(key);
    bound.rounds.push_back({key, first});
    if (policy_table.EndLeases(key, first)) scheduler.WantPolicy(key, first);
  }
  return bound;
}

// More workers than any data centre attaches.
inline constexpr size_t kMostEarlyCalls = 1 << 12;

// Calls of workers from before their node has joined the job: they wait for that. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - At most kMostEarlyCalls wait; each is answered or handed on once, in order.
class EarlyCalls {
 public:
  bool has_room() const { return calls_.size() < kMostEarlyCalls; }
  // REQUIRES: has_room().
  void Keep(WorkerCall call) { calls_.push_back(std::move(call)); }
  // Returns all calls, which wait no longer.
  std::deque<WorkerCall> Take() { return std::exchange(calls_, {}); }
  // Answers all calls with `why`.
  void Refuse(StepContext& step, const absl::Status& why);

  // Answers one call, unless it is a WorkerDetach, which nobody waits for.
  static void Refuse(StepContext& step, const WorkerCall& call, const absl::Status& why);

 private:
  std::deque<WorkerCall> calls_;
};

struct NodeOptions {
  std::string name;
  std::string address;                           // where other nodes reach this one, tcp://host:port
  std::vector<std::string> scheduler_addresses;  // tcp://host:port, of all that may lead: 1 to kMostSchedulers
  // Gets all addresses of schedulers that the node learns, for its next start. It outlives the core; null: nobody wants
  // them.
  std::vector<std::string>* learned_schedulers = nullptr;
  std::string job;          // empty: whichever job the scheduler runs
  Incarnation incarnation;  // differs between any two starts of this node
  // Its connections have a congestion control that takes each loss for a full queue, such as CUBIC.
  bool loss_limited = false;
  // Stops when its job is over, with OK if that is done or was stopped and else with the failure, instead of telling
  // workers of it until it is asked to stop.
  bool ends_with_job = false;
  // Of its driver, that compute at once.
  uint32_t compute_threads = 1;
  // On which its computations encode, decode and add chunks; it outlives them.
  const ChunkDevice* device = &ProcessorDevice();
  // Persists a transcript of its rounds (PersistRecord), from which they can be replayed.
  bool records_transcript = false;
  // Where the node notes what happens in rounds that are traced; outlives the core. While it is on already, the
  // scheduler's traces are refused. Null: in a place of its own.
  RoundRecorder* recorder = nullptr;
  // Does again what this transcript of the node says. Null: it does not.
  std::shared_ptr<const NodeTranscript> replayed = nullptr;
};

class NodeCore : public Protocol,
                 private PeerNetwork::Listener,
                 private RoundEngine::Listener,
                 private LocalWorkers::Listener {
 public:
  explicit NodeCore(NodeOptions options);
  ~NodeCore() override;

  Actions Step(Timestamp now, Event event) override;
  Timestamp NextDeadline() const override;

 private:
  // The parts that need to know the job: made once the scheduler has let this node in.
  struct Joined {
    NodeId self;
    JobConfig config;
    std::unique_ptr<PeerNetwork> network;
    std::unique_ptr<RoundEngine> engine;
    std::unique_ptr<LocalWorkers> local_workers;
    std::unique_ptr<StateTransfers> state;
  };

  void Handle(StepContext& step, Started&) { scheduler_.Start(step); }
  void Handle(StepContext& step, MessageReceived& received);
  void Handle(StepContext& step, MessageRejected& rejected);
  void Handle(StepContext& step, ConnectionUp& up);
  void Handle(StepContext& step, ConnectionDown& down);
  void Handle(StepContext& step, ConnectFailed& failed) {
    if (scheduler_.Owns(failed.connection)) return scheduler_.OnConnectFailed(step, failed.connection, failed.reason);
    if (joined_.has_value()) joined_->network->OnConnectFailed(step, failed.connection, failed.reason);
  }
  void Handle(StepContext&, ConnectionAccepted&) {}
  void Handle(StepContext&, PacketsOvertook& overtook) {
    if (joined_.has_value()) joined_->network->OnOvertook(overtook.connection, overtook.times);
  }
  void Handle(StepContext& step, DeadlineReached&);
  void Handle(StepContext& step, WorkerCalled& called);
  void Handle(StepContext& step, StateCalled& called) {
    // A worker is attached before it says anything of its state, and so this node has joined.
    if (joined_.has_value()) joined_->state->OnCall(step, called.call);
  }
  void Handle(StepContext& step, ComputationFinished& finished) { computations_.OnFinished(step, finished); }
  void Handle(StepContext&, RecordPersisted&) {}
  void Handle(StepContext& step, StopRequested&) {
    // Others may still need what this node holds of the last rounds.
    const bool stays = workers_done_ && !left_ && failed_.ok();
    if (!stays) return StopNow(step);
    end_.Ask(step.now);
  }

  void OnSchedulerMessage(StepContext& step, Message message);
  // True, and the job fails, if it runs and the scheduler that sends `accepted` knows nothing of it.
  bool IsForgotten(const JoinAccepted& accepted);
  void On(StepContext& step, const JoinAccepted& accepted);
  void On(StepContext& step, const JoinRefused& refused);
  // All others have finished, and nothing is left for this node: ends without an error.
  void OnJobOver(StepContext& step, const std::string& reason);
  void On(StepContext& step, const MembershipUpdate& update);
  void On(StepContext&, const HeartbeatReply&) {}
  void On(StepContext& step, const KeysAssigned& assigned);
  void On(StepContext& step, const KeyRefused& refused) {
    if (joined_.has_value()) joined_->local_workers->OnKeyRefused(step, refused.name, refused.reason);
  }
  void On(StepContext& step, const PolicyPublished& published);
  void On(StepContext& step, const PolicyAnswer& answer);
  void On(StepContext& step, const CutSought& sought) {
    // Without the plan of the epoch leases could still come that are older than the cut.
    const bool follows = joined_.has_value() && failed_.ok() && sought.epoch == epochs_.begun() && epochs_.has_plan();
    if (follows) scheduler_.Send(step, CutLeases(sought, *joined_->engine, policy_table_, scheduler_));
  }
  void On(StepContext& step, const ClosedEverywhere& closed);
  void On(StepContext& step, const QuorumReached& reached) {
    if (joined_.has_value() && failed_.ok()) joined_->local_workers->OnQuorum(step, reached.runs);
  }
  void On(StepContext& step, const PoliciesRetired& retired) {
    if (!joined_.has_value()) return;
    policy_table_.Retire(retired.oldest);
    joined_->network->RetirePolicies(retired.oldest, step.now);
  }
  void On(StepContext& step, const BarrierReleased& released) {
    scheduler_.OnBarrierReleased(released.barrier);
    if (joined_.has_value()) joined_->local_workers->OnBarrierReleased(step, released.barrier);
  }
  void On(StepContext&, const JobFailed& failed) {
    Fail(absl::Status(failed.code, failed.reason), failed.asked_for ? LogLevel::kWarning : LogLevel::kError);
    const std::string text = "the job failed: " + failed.reason;
    end_.OnJobOver(failed.asked_for ? absl::OkStatus() : absl::FailedPreconditionError(text));
  }
  void On(StepContext& step, WaitAnswer& answer) {
    if (!joined_.has_value()) return;
    const std::string refused = joined_->engine->WhyRefused(answer.key);
    if (!refused.empty()) absl::StrAppend(&answer.text, "; ", refused);
    joined_->local_workers->OnWaitAnswer(step, answer);
  }
  void On(StepContext& step, const StateSought& sought) {
    if (joined_.has_value()) joined_->state->workers().OnSought(step, sought);
  }
  void On(StepContext& step, const StateHolders& holders) {
    if (joined_.has_value()) joined_->state->OnHolders(step, holders);
  }
  void On(StepContext& step, const StateReleased& released) {
    if (joined_.has_value()) joined_->state->workers().OnReleased(step, released);
  }
  void On(StepContext& step, const TraceOrder& order) {
    if (joined_.has_value()) tracer_.OnOrder(step, TracedParts(), order);
  }
  void On(StepContext& step, const AccessList& list) {
    step.actions.emplace_back(std::in_place_type<Admit>, Admit{list.keys});
  }
  void On(StepContext& step, const EpochBegin& begin);
  void On(StepContext& step, EpochPlan& part);

  // A worker calls, of whose calls the script may take some.
  void OnWorkerCall(StepContext& step, WorkerCall call) {
    if (script_ == nullptr || !failed_.ok() || !script_->TakeCall(call))
      joined_->local_workers->OnCall(step, std::move(call));
    joined_->state->workers().Review();
  }
  // Lets the script do what is next, or note what was done.
  void EndScriptStep(StepContext& step);
  // The script cannot go on with this job.
  void FailScript(StepContext& step, const absl::Status& status) {
    scheduler_.Announce(step, Leave{std::string(status.message()), true});
    Fail(status);
  }
  // The scheduler has said what this node cannot take, and goes on as if it had: has it let this node fall out.
  void CannotFollow(StepContext& step, absl::string_view what, const absl::Status& why);
  // The former epoch is over.
  void BeginEpoch(StepContext& step, Epoch epoch, const std::string& reason);
  // REQUIRES: this node has joined.
  RoundTracer::Parts TracedParts() {
    return {joined_->self, policy_table_, *joined_->engine, *joined_->network, scheduler_};
  }
  // PeerNetwork::Listener, RoundEngine::Listener, LocalWorkers::Listener.
  PeerNetwork::Verdict OnChunk(StepContext& step, ChunkMessage message, Payload payload) override;
  void OnStateMessage(StepContext& step, const Message& message) override {
    joined_->state->OnPeerMessage(step, message);
  }
  void OnPeerLost(StepContext& step, const PeerLost& lost) override;
  void OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) override {
    joined_->local_workers->OnValues(step, key, round, first_element, values);
  }
  void OnRoundComplete(StepContext& step, KeyId key, Round round, uint64_t hash) override;
  void OnPolicyWanted(StepContext&, KeyId key, Round round) override {
    const std::optional<Round> unknown = policy_table_.FirstUnknown(key, round);
    if (unknown.has_value()) scheduler_.WantPolicy(key, *unknown);
  }
  void OnRoundBroken(StepContext& step, KeyId key, Round round, NodeId culprit, const std::string& reason) override;
  void OnWorkerLost(StepContext& step, WorkerId worker, const std::string& reason) override;
  void OnWorkersDone(StepContext&) override { workers_done_ = true; }
  void OnLeftOut(KeyId key, Round round) override {
    if (script_ != nullptr) script_->OnLeftOut(key, round);
  }

  // Sends what the parts that move states have left to be sent.
  void CarryStateMail(StepContext& step);
  // Sends the scheduler a report if it says anything new.
  void Report(StepContext& step);
  NodeReport MakeReport(StepContext& step) const;
  // Tells the scheduler that no worker is here, or none that takes part in the open rounds, while that is so: for as
  // long as rounds wait for them.
  void ReportLostWorker(StepContext& step);
  // The same, if open broadcasts wait for this node's values.
  void ReportMissingValues(StepContext& step);

  // Ends every round and every later call with `status`. Takes effect at the end of the Step, when no part is in the
  // middle of anything. `level` is that of its line in the log.
  void Fail(absl::Status status, LogLevel level = LogLevel::kError);
  // Carries out what Fail asked for.
  void TakeFailure(StepContext& step);
  // Leaves the job once the workers are done and no other node needs this one.
  void LeaveIfOver(StepContext& step);
  void StopNow(StepContext& step);

  // A warning says so when the job has so many keys, and each time that their number doubles.
  static constexpr size_t kFirstKeysTold = 4096;

  NodeOptions options_;
  RejectionLog rejections_;
  ComputationTable computations_;
  PolicyTable policy_table_;
  size_t next_keys_told_ = kFirstKeysTold;
  SchedulerClient scheduler_;
  EpochState epochs_;
  RoundTracer tracer_;
  std::unique_ptr<NodeScript> script_;  // null: no transcript is recorded or replayed
  std::optional<Joined> joined_;
  // From before this node has joined: calls of workers, and the greeting of each connection.
  EarlyCalls early_calls_;
  std::map<ConnectionId, PeerHello> early_hellos_;
  absl::Status failure_;  // from Fail, not yet taken
  LogLevel failure_level_ = LogLevel::kError;
  absl::Status failed_;
  bool started_ = false;            // the job, as the scheduler has said
  std::vector<JobMember> members_;  // of whom workers were told last
  bool workers_done_ = false;
  bool left_ = false;
  bool cannot_follow_ = false;  // which the scheduler is told
  // Likewise, of whose chunks broke a round of this epoch; 0: of rounds that nobody else broke, in any epoch.
  std::set<NodeId> complained_of_;
  NodeEnd end_;
  std::optional<NodeReport> last_report_;  // none: whatever the next one says is new to the scheduler
  std::optional<WorkerLost> worker_lost_;  // the last one; others may have come since
};

}  // namespace banyan

#endif  // BANYAN_NODE_NODE_CORE_H_
