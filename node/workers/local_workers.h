// The node's side of its workers: who is attached, what each has pushed and waits for. Sums the workers of the data
// centre into this node's contribution. Thread-compatible; owned by NodeCore, which outlives it as its listener.
//
// Invariants:
// - Every call is answered exactly once, with an error where it must be; those of a worker that has gone, too.
// - A round waits for the workers that take part in it: who is attached, has called Init, and begins before it. What a
//   worker that died had pushed goes with it, out of rounds that are not contributed.
// - This node abstains from a key that goes on without it: where all its workers died, or when it has joined a job that
//   runs. A worker that calls Init ends that, and begins with the next round that is not contributed.
// - A worker that calls Init for a key whose rounds go on keeps its own values, unless the node has those of all. It
// takes
//   part when it has got the training state, or has said that it needs none: what others train with, it does not have.
// - A worker learns of the end of each round that it pushed: from the answer of a call that asks for the result, or
//   else from one NotifyRoundComplete.
// - After FailAll nothing waits, and every further call ends with the same status.
#ifndef BANYAN_NODE_WORKERS_LOCAL_WORKERS_H_
#define BANYAN_NODE_WORKERS_LOCAL_WORKERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/computation_table.h"
#include "node/policy_table.h"
#include "node/rounds/round_engine.h"
#include "node/scheduler_client.h"
#include "node/state/state_workers.h"
#include "node/step_context.h"
#include "node/workers/fetching_workers.h"
#include "node/workers/late_workers.h"
#include "node/workers/local_barriers.h"
#include "node/workers/local_keys.h"
#include "node/workers/local_waits.h"
#include "node/workers/wait_questions.h"
#include "node/workers/worker_reports.h"
#include "node/workers/worker_roster.h"
#include "protocol/worker_call.h"

namespace banyan {

class LocalWorkers : public StateWorkers {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The last worker has died: the node abstains until another one attaches.
    virtual void OnWorkerLost(StepContext& step, WorkerId worker, const std::string& reason) = 0;
    // The last worker has said good-bye, and none is waited for.
    virtual void OnWorkersDone(StepContext& step) = 0;
    // The round can never finish, for this `reason`; no other node is the `culprit`.
    virtual void OnRoundBroken(StepContext& step, KeyId key, Round round, NodeId culprit,
                               const std::string& reason) = 0;
    // The node contributes to the round without some workers.
    virtual void OnLeftOut(KeyId /*key*/, Round /*round*/) {}
  };

  LocalWorkers(const std::string& node, const JobConfig& config, const PolicyTable* policy_table, RoundEngine* engine,
               SchedulerClient* scheduler, ComputationTable* computations, Listener* listener);

  void OnCall(StepContext& step, WorkerCall call);

  // The scheduler says the rows of the keys of these `names`: they are new in the key table, or were asked for.
  void OnKeysAssigned(StepContext& step, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (LocalKey* local = keys_.Find(name); local != nullptr) local->is_asked = false;
    }
    TakeUp(step, names);
  }
  void OnKeyRefused(StepContext& step, const std::string& name, const std::string& reason);
  // The replicas of these keys may be here, which were lacked: workers may begin with them.
  void OnReplicasChanged(StepContext& step, const std::vector<KeyId>& keys) {
    for (const KeyId key : keys) {
      if (LocalKey* local = keys_.Find(key); local != nullptr) TakeLateInits(step, *local);
    }
  }
  void OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) {
    LocalKey* local = keys_.Find(key);
    if (local == nullptr) return;
    auto state = local->rounds.find(round);
    if (state == local->rounds.end()) return;
    for (const WaitingCall& call : state->second.waiting) {
      step.actions.emplace_back(std::in_place_type<WriteResult>, WriteResult{call.request, first_element, values});
    }
  }
  void OnRoundComplete(StepContext& step, KeyId key, Round round);
  void OnBarrierReleased(StepContext& step, uint64_t barrier) {
    for (const WaitingCall& call : barriers_.TakeReleased(barrier)) Complete(step, call.request, absl::OkStatus());
  }
  // Takes up the plan of an epoch, which the engine uses already. A node that is `fresh` has joined a job that runs.
  void OnEpochPlan(StepContext& step, const EpochPlan& plan, bool is_fresh);
  // StateWorkers.
  std::vector<KeysPushed> PushedBy(WorkerId worker) const override { return fetching_.PushedBy(worker); }
  bool HasState(WorkerId worker) const override { return fetching_.HasState(worker); }
  bool HasMissedNothing(WorkerId worker) const override { return fetching_.HasMissedNothing(worker); }
  std::vector<WorkerId> Beginners() const override { return fetching_.Beginners(); }
  bool HasResultsOf(const std::vector<KeysPushed>& pushed) const override { return fetching_.HasResultsOf(pushed); }
  void Abstain(StepContext& step, WorkerId worker) override;
  void AbstainUntil(StepContext& step, const std::vector<KeysPushed>& pushed) override;
  void AbstainFromAll(StepContext& step) override;
  void BeginAfter(StepContext& step, WorkerId worker, const std::vector<KeysPushed>& pushed) override {
    fetching_.BeginAfter(worker, pushed);
    OnFetched(step, worker);
  }
  void BeginAnywhere(StepContext& step, WorkerId worker) override {
    if (!workers_.IsAttached(worker)) return;
    fetching_.BeginAnywhere(worker);
    OnFetched(step, worker);
  }
  // Takes the scheduler's answer to a question for whom workers wait.
  void OnWaitAnswer(StepContext& step, const WaitAnswer& answer) { questions_.OnAnswer(step, answer); }
  // Logs what has waited long, and goes on without late workers.
  void OnDeadline(StepContext& step) {
    questions_.OnDeadline(step, waits());
    for (LocalKey* local : late_.TakeDue(step.now)) {
      if (failed_.ok()) ContributeLate(step, *local);
    }
  }
  Timestamp NextDeadline() const { return late_.NextDeadline(); }
  // A quorum of the job has pushed these rounds; without a quorum, all whose workers the job goes on with.
  void OnQuorum(StepContext& step, const std::vector<KeyProgressRun>& runs) {
    if (!late_.is_on()) return LeaveOutLost(step, runs);
    for (LocalKey* local : late_.OnQuorum(step.now, runs)) {
      if (failed_.ok()) ContributeLate(step, *local);
    }
  }
  // A transcript says that the node has gone on without late workers in the round. False when it is not the next one.
  bool GoOnWithoutLate(StepContext& step, KeyId key, Round round) {
    LocalKey* const local = keys_.Find(key);
    const bool is_next = local != nullptr && local->takes_part && local->next_contribution == round;
    if (is_next) LeaveOut(step, *local, round);
    return is_next;
  }
  // Tells the workers that the job has ended with `status`. Answers everything that waits, and from now on every call,
  // with it; each answer names its key and round.
  void FailAll(StepContext& step, const absl::Status& status);

  uint32_t attached() const { return workers_.attached(); }
  // Adds to a report what it says of workers.
  void AddTo(NodeReport& report) const;
  // What waits at this moment; not to be kept.
  LocalWaits waits() const {
    return LocalWaits(&keys_, &barriers_, [this](WorkerId worker) { return workers_.IsAwaited(worker); });
  }

 private:
  void On(StepContext& step, WorkerAttach& call) {
    absl::Status attached = workers_.Attach(call.worker);
    if (!attached.ok()) return Complete(step, call.request, std::move(attached));
    has_state_[call.worker.value()] = false;
    barriers_.OnAttached(call.worker);
    // The session is told what results are, and lets that many rounds of a key be open at once.
    step.actions.emplace_back(
        CompleteRequest{call.request, absl::OkStatus(), KeyId(), Round(rounds_in_flight_), 0, traits_});
  }
  void On(StepContext& step, WorkerDetach& call);
  void On(StepContext& step, WorkerInit& call);
  void On(StepContext& step, WorkerPush& call);
  void On(StepContext& step, WorkerPull& call);
  void On(StepContext& step, WorkerBroadcast& call);
  void On(StepContext& step, WorkerBarrier& call) {
    barriers_.Enter(step.now, {call.worker, call.request});
    EnterBarriers();
  }
  void On(StepContext& step, WorkerReportLoss& call) {
    step_ = call.step;
    loss_ = call.loss;
    const TrainingHealth health{static_cast<int64_t>(call.step), call.loss, call.progress, call.learning_rate_fraction,
                                call.metric};
    if (has_low_bit_ && scheduler_->joined()) scheduler_->Send(step, HealthReport{call.worker, health});
    Complete(step, call.request, absl::OkStatus());
  }
  void On(StepContext& step, WorkerRegisterWeights& call) {
    const absl::StatusOr<LocalKey*> local = keys_.FindInitialised(call.key, call.worker);
    absl::Status status = local.ok() ? (*local)->CheckShape(call.worker, call.weights) : local.status();
    if (status.ok()) engine_->RegisterWeights(step, call.key, std::move(call.weights));
    Complete(step, call.request, std::move(status), call.key);
  }
  void On(StepContext& step, WorkerDescribeWait& call) { questions_.OnQuestion(step, call, waits()); }

  // Takes up the rows of these keys, as far as they have come.
  void TakeUp(StepContext& step, const std::vector<std::string>& names);
  // Answers an Init with why its key was refused to all. True when the worker had not heard of it.
  bool TellRefusal(StepContext& step, const WorkerInit& call);
  void ContributeInit(StepContext& step, LocalKey& local);
  // Lets workers begin with a key whose rounds go on already; does nothing for another one.
  void TakeLateInits(StepContext& step, LocalKey& local);
  // Ends an Init of a worker after round `begins_after`, with its own values: nobody here has those of all.
  void BeginWithOwnValues(StepContext& step, LocalKey& local, const WaitingCall& call, Round begins_after);
  // True if the values of round 0 come, or all of them are there.
  bool HasFirstValues(const LocalKey& local) const;
  // True while nobody here takes part in anything, and others must not wait for that.
  bool AbstainsFromAll() const;
  // Abstains from the key unless a worker here takes part in it.
  void AbstainFrom(StepContext& step, KeyId key);
  // Goes on without a worker that has gone.
  void DropWorker(StepContext& step, WorkerId worker, bool keeps_pushes);
  // Closes rounds of the key before `first_open` that this node has not seen end.
  void CloseBefore(StepContext& step, LocalKey& local, Round first_open);
  void EnterBarriers() {
    const auto entered = barriers_.TakeEntered([this](WorkerId worker) { return workers_.IsAwaited(worker); });
    if (entered.has_value()) scheduler_->EnterBarrier(*entered);
  }
  void OnFetched(StepContext& step, WorkerId worker);
  // The others go on without those that have not pushed these rounds: no round waits for one until it has the training
  // state of the others. With an optimizer that is in the nodes, so that it begins again with its next push.
  void LeaveOutLost(StepContext& step, const std::vector<KeyProgressRun>& runs);
  // What a worker puts into a round. One that is left out counts as pushed, and is no part of the sum.
  struct Part {
    RoundKind kind;
    Buffer values;
    int32_t priority = 0;
    bool is_left_out = false;
  };
  // Takes one worker's part of its next round. Returns the round, or why not.
  absl::StatusOr<Round> TakePart(StepContext& step, WorkerId worker, KeyId key, Part part);
  // Takes a late worker's part of a round that was contributed without it.
  absl::StatusOr<Round> TakeLatePart(StepContext& step, WorkerId worker, LocalKey& local, const Part& part);
  // Contributes rounds of the key for which workers are late.
  void ContributeLate(StepContext& step, LocalKey& local) {
    while (const std::optional<Round> round = late_.NextDue(step.now, local)) LeaveOut(step, local, *round);
  }
  // Contributes the key's next round without those who have not pushed it.
  void LeaveOut(StepContext& step, LocalKey& local, Round round) {
    local.OpenRound(round, RoundKind::kAggregate, workers_.size());
    late_.LeaveOut(local, round);
    listener_->OnLeftOut(local.key, round);
    Contribute(step, local, round);
  }
  // Says that what late workers have pushed goes into no round, if the last worker has gone before one did.
  static void WarnOfOwed(StepContext& step, const LocalKey& local) {
    if (local.owed.empty() || local.HasTakers()) return;
    step.Log(LogLevel::kWarning,
             absl::StrCat("key '", local.name, "': the last worker has gone, and gradients that were ",
                          "pushed late are in no round yet; end with a Flush"));
  }
  // Counts a push that is not all finite, and ends the job where the configuration says so.
  void NoteNotFinite(StepContext& step, const LocalKey& local, Round round, const WorkerPush& call);
  absl::Status CheckPart(const LocalKey& local, WorkerId worker, Round round, RoundKind kind,
                         const Buffer& values) const;
  // Contributes the round once every worker that takes part in it has pushed it.
  void ContributeIfWhole(StepContext& step, LocalKey& local, Round round);
  // Contributes all such rounds of the key.
  void ContributeWhole(StepContext& step, LocalKey& local);
  void Contribute(StepContext& step, LocalKey& local, Round round);
  // Hands the sum to the engine, unless the round has come to wait for a worker that fetches.
  void PutIn(StepContext& step, KeyId key, Round round, Contribution contribution);
  // Writes what is there of a round's result.
  void Replay(StepContext& step, RequestId request, KeyId key, Round round) {
    engine_->Replay(key, round, [&](int64_t first_element, const Buffer& values) {
      step.actions.emplace_back(std::in_place_type<WriteResult>, WriteResult{request, first_element, values});
    });
  }
  // Writes what a late worker has missed.
  static void GiveMissed(StepContext& step, RequestId request, const LocalKey& local, MissedResults& missed) {
    missed.Give(local.elements, local.sum_type(), [&](int64_t first_element, const Buffer& values) {
      step.actions.emplace_back(std::in_place_type<WriteResult>, WriteResult{request, first_element, values});
    });
  }
  // Answers the worker's request with the round's result, now or when it is there.
  void WaitFor(StepContext& step, RequestId request, WorkerId worker, LocalKey& local, Round round);
  void Complete(StepContext& step, RequestId request, absl::Status status, KeyId key = KeyId(), Round round = Round());

  const PolicyTable* policy_table_;
  RoundEngine* engine_;
  SchedulerClient* scheduler_;
  ComputationTable* computations_;
  Listener* listener_;
  uint32_t rounds_in_flight_;
  JobTraits traits_;
  bool has_low_bit_;  // rounds may be: each worker is a voter, and the scheduler hears how training goes
  WorkerRoster workers_;
  LocalKeys keys_;
  FetchingWorkers fetching_;
  LateWorkers late_;
  uint64_t contributions_ = 0;
  LocalBarriers barriers_;
  WaitQuestions questions_;
  NotFinitePushes not_finite_;
  PushPatterns patterns_;
  InitRefusals refusals_;
  struct Refused {
    absl::Status why;
    std::set<WorkerId> told;
  };
  // Keys that the scheduler has refused to all, of which another worker here may have to hear yet; by name.
  std::map<std::string, Refused> refused_;
  std::vector<bool> is_lost_;    // by worker: the others have gone on without it, and it has pushed nothing since
  std::vector<bool> has_state_;  // by worker: it has got the training state since it attached, or needs none
  bool is_fresh_ = false;        // joined while the job ran
  uint64_t step_ = 0;            // of training, as a worker has said last
  double loss_ = 0;
  SynchronisationClock synchronisation_;
  absl::Status failed_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_LOCAL_WORKERS_H_
