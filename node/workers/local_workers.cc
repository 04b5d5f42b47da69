#include "node/workers/local_workers.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "compression/element_types.h"
#include "node/rounds/chunk_computations.h"
#include "node/workers/call_subject.h"

namespace banyan {
namespace {

absl::Status Failed(const std::string& what, const absl::Status& why) {
  return absl::Status(why.code(), absl::StrCat(what, ": ", why.message()));
}

}  // namespace

LocalWorkers::LocalWorkers(const std::string& node, const JobConfig& config, const PolicyTable* policy_table,
                           RoundEngine* engine, SchedulerClient* scheduler, ComputationTable* computations,
                           Listener* listener)
    : policy_table_(policy_table),
      engine_(engine),
      scheduler_(scheduler),
      computations_(computations),
      listener_(listener),
      rounds_in_flight_(config.rounds_in_flight),
      traits_(TraitsOf(config.aggregation)),
      has_low_bit_(config.low_bit.has_value()),
      workers_(std::max(1u, config.workers)),
      keys_(workers_.size(), policy_table),
      fetching_(&keys_, engine),
      late_(&keys_, engine, config.aggregation),
      barriers_(workers_.size()),
      questions_(node, scheduler),
      not_finite_(config.aggregation.not_finite),
      is_lost_(workers_.size()),
      has_state_(workers_.size()) {}

void LocalWorkers::Complete(StepContext& step, RequestId request, absl::Status status, KeyId key, Round round) {
  step.actions.emplace_back(std::in_place_type<CompleteRequest>,
                            CompleteRequest{request, std::move(status), key, round});
}

void LocalWorkers::OnCall(StepContext& step, WorkerCall call) {
  std::visit(
      [&](auto& concrete) {
        using Call = std::decay_t<decltype(concrete)>;
        if constexpr (!std::is_same_v<Call, WorkerDetach>) {
          if (!failed_.ok()) {
            const CallSubject subject = SubjectOf(call, keys_, workers_);
            return Complete(step, concrete.request, Failed(subject.text, failed_), subject.key, subject.round);
          }
          if constexpr (!std::is_same_v<Call, WorkerAttach> && !std::is_same_v<Call, WorkerDescribeWait>) {
            if (!workers_.IsAttached(concrete.worker)) {
              return Complete(
                  step, concrete.request,
                  absl::FailedPreconditionError(absl::StrCat("worker ", concrete.worker.value(), " is not attached")));
            }
          }
        }
        On(step, concrete);
      },
      call);
}

void LocalWorkers::On(StepContext& step, WorkerDetach& call) {
  if (!workers_.IsAttached(call.worker)) return;
  workers_.Detach(call.worker, call.clean);
  is_lost_[call.worker.value()] = false;
  if (!failed_.ok()) return;
  DropWorker(step, call.worker, /*keeps_pushes=*/call.clean);
  if (!call.clean && attached() == 0) {
    listener_->OnWorkerLost(step, call.worker, absl::StrCat("worker ", call.worker.value(), " has died"));
  }
  if (call.clean && !workers_.HasAwaited()) return listener_->OnWorkersDone(step);
  for (const auto& [key, row] : policy_table_->keys()) {
    // One that has attached since may not take part in a key that goes on.
    const LocalKey* local = keys_.Find(key);
    if (AbstainsFromAll() || (local != nullptr && local->takes_part)) AbstainFrom(step, key);
  }
}

void LocalWorkers::DropWorker(StepContext& step, WorkerId worker, bool keeps_pushes) {
  // Nobody reads these answers.
  const absl::Status gone = absl::UnavailableError(absl::StrCat("worker ", worker.value(), " has gone"));
  patterns_.Forget(worker);
  refusals_.Forget(worker);
  // The next start of its program may be mended.
  std::erase_if(refused_, [worker](const auto& refused) { return refused.second.told.contains(worker); });
  std::vector<std::string> names;
  for (auto& [name, local] : keys_.by_name()) {
    for (RequestId request : local.DropWorker(worker, keeps_pushes)) Complete(step, request, gone);
    names.push_back(name);
    WarnOfOwed(step, local);
    ContributeWhole(step, local);
  }
  TakeUp(step, names);
  for (RequestId request : barriers_.Drop(worker)) Complete(step, request, gone);
  EnterBarriers();
}

bool LocalWorkers::AbstainsFromAll() const {
  return workers_.attached() == 0 && (workers_.HasDead() || (is_fresh_ && workers_.HasAbsent()));
}

void LocalWorkers::AbstainFrom(StepContext& step, KeyId key) {
  const LocalKey* local = keys_.Find(key);
  if (local != nullptr && local->takes_part && local->HasTakers()) return;
  if (local == nullptr) return engine_->Abstain(step, key, Round(0));
  engine_->Abstain(step, key, local->next_contribution, local->waits_from);
}

void LocalWorkers::Abstain(StepContext& step, WorkerId worker) {
  fetching_.Begin(worker);
  for (LocalKey* local : fetching_.KeysOf(worker)) {
    ContributeWhole(step, *local);
    AbstainFrom(step, local->key);
  }
  barriers_.OnFetching(worker);
  EnterBarriers();
}

void LocalWorkers::AbstainUntil(StepContext& step, const std::vector<KeysPushed>& pushed) {
  fetching_.AbstainUntil(pushed);
  for (auto& [name, local] : keys_.by_name()) ContributeWhole(step, local);
}

void LocalWorkers::AbstainFromAll(StepContext& step) {
  fetching_.AbstainFromAll();
  for (auto& [name, local] : keys_.by_name()) ContributeWhole(step, local);
}

void LocalWorkers::LeaveOutLost(StepContext& step, const std::vector<KeyProgressRun>& runs) {
  for (uint32_t worker = 0; worker < workers_.size(); ++worker) {
    const bool is_missing = std::ranges::any_of(runs, [&](const KeyProgressRun& run) {
      const LocalKey* const local = keys_.Find(run.key);
      return local != nullptr && local->takes_part && local->has_init[worker] && local->last_push[worker] < run.round;
    });
    if (!is_missing) continue;
    step.Log(LogLevel::kWarning,
             absl::StrCat("worker ", worker, " has let the others wait too long: they go on without it ",
                          "(membership.worker_lost_after_seconds)"));
    is_lost_[worker] = true;
    has_state_[worker] = false;
    Abstain(step, WorkerId(worker));
  }
}

void LocalWorkers::OnFetched(StepContext& step, WorkerId worker) {
  has_state_[worker.value()] = true;
  is_lost_[worker.value()] = false;
  barriers_.OnFetched(worker);
  for (LocalKey* local : fetching_.KeysOf(worker)) ContributeWhole(step, *local);
}

void LocalWorkers::OnEpochPlan(StepContext& step, const EpochPlan& plan, bool is_fresh) {
  is_fresh_ = is_fresh_ || is_fresh;
  std::vector<std::string> names;
  for (const EpochPlan::Frontier& frontier : plan.frontiers) {
    const auto& rows = policy_table_->keys();
    for (auto row = rows.lower_bound(frontier.first_key); row != rows.end() && row->first <= frontier.last_key; ++row) {
      LocalKey* local = keys_.Find(row->first);
      if (local != nullptr) CloseBefore(step, *local, frontier.first_open);
      if (is_fresh || AbstainsFromAll()) AbstainFrom(step, row->first);
      names.push_back(row->second.name);
    }
  }
  TakeUp(step, names);
}

void LocalWorkers::CloseBefore(StepContext& step, LocalKey& local, Round first_open) {
  for (auto entry = local.rounds.begin(); entry != local.rounds.end() && entry->first < first_open;) {
    const auto [round, state] = *entry;
    if (state.complete) {
      ++entry;
      continue;
    }
    if (state.is_timed) synchronisation_.End(step.now);
    entry = local.rounds.erase(entry);
    if (round == Round(0)) {
      // The others have agreed on the values before: this is a late Init.
      local.takes_part = false;
      local.init_requests.insert(local.init_requests.end(), state.waiting.begin(), state.waiting.end());
      continue;
    }
    for (const WaitingCall& call : state.waiting) {
      Complete(step, call.request,
               absl::UnavailableError(absl::StrCat(RoundText(local.name, round), " has ended without this node")),
               local.key, round);
    }
  }
  local.next_contribution = std::max(local.next_contribution, first_open);
}

void LocalWorkers::On(StepContext& step, WorkerInit& call) {
  const std::string name = call.name;
  if (!call.refused.ok()) {
    refusals_.Note(call.worker, name, std::string(call.refused.message()));
    return Complete(step, call.request, call.refused);
  }
  refusals_.Clear(call.worker, name);
  absl::Status sound = keys_.CheckInit(call);
  if (!sound.ok()) {
    Complete(step, call.request, sound);
    const LocalKey* const known = keys_.Find(name);
    const bool is_empty = call.values.empty() && LocalKeys::IsName(name);
    const bool is_other = known != nullptr && !known->HasShapeOf(call);
    if ((!is_empty && !is_other) || (known != nullptr && known->takes_part)) return;
    // Whoever waits for this Init hears of it, here and elsewhere.
    OnKeyRefused(step, name, std::string(sound.message()));
    refusals_.Note(call.worker, name, std::string(sound.message()));
    if (const auto refused = refused_.find(name); refused != refused_.end()) refused->second.told.insert(call.worker);
    return scheduler_->RegisterKey({name, call.values.elements(), std::move(call.layout)});
  }
  if (TellRefusal(step, call)) return;
  LocalKey& local = keys_.TakeInit(step.now, call);
  const KeySlice* const row = policy_table_->FindKey(name);
  // Until all agree on the values only the scheduler knows whether another node gives the key another shape.
  const bool is_known = row != nullptr && local.HasShapeOf(*row) && engine_->HasCompleted(row->key, Round(0));
  if (!is_known && !local.takes_part && local.initialised() == 1) {
    local.is_asked = true;
    scheduler_->RegisterKey({name, local.elements, local.layout});
  }
  TakeUp(step, {name});
}

bool LocalWorkers::TellRefusal(StepContext& step, const WorkerInit& call) {
  const auto refused = refused_.find(call.name);
  if (refused == refused_.end()) return false;
  if (!refused->second.told.insert(call.worker).second) {
    // It tries again.
    refused_.erase(refused);
    return false;
  }
  refusals_.Note(call.worker, call.name, std::string(refused->second.why.message()));
  Complete(step, call.request, refused->second.why);
  return true;
}

void LocalWorkers::TakeUp(StepContext& step, const std::vector<std::string>& names) {
  const LocalKeys::Assigned assigned =
      keys_.Assign(names, [this](WorkerId worker) { return workers_.IsAwaited(worker); });
  for (const std::string& name : assigned.answered) scheduler_->OnKeyAnswered(name);
  for (const std::string& name : names) {
    const KeySlice* row = policy_table_->FindKey(name);
    if (row != nullptr && AbstainsFromAll()) AbstainFrom(step, row->key);
    LocalKey* local = row == nullptr ? nullptr : keys_.Find(row->key);
    if (local != nullptr) TakeLateInits(step, *local);
  }
  for (LocalKey* local : assigned.ready) {
    if (!local->takes_part && !engine_->replicas().Lacks(local->key)) ContributeInit(step, *local);
  }
}

void LocalWorkers::TakeLateInits(StepContext& step, LocalKey& local) {
  // Under a limit nobody knows yet with which round it would begin.
  const bool is_blocked = local.waits_from != LocalKey::kNoLimit || engine_->replicas().Lacks(local.key);
  if (local.init_requests.empty() || is_blocked) return;
  const std::optional<Round> next = engine_->EndAbstention(local.key);
  local.next_contribution = std::max(local.next_contribution, next.value_or(Round(0)));
  if (local.next_contribution == Round(0)) return;
  local.takes_part = true;
  const Round begins_after(local.next_contribution.value() - 1);
  // With an optimizer the node has the parameters, and the worker begins with them.
  const bool has_parameters = IsOptimizer(traits_.op) && local.CanBeStepped();
  const bool has_first = begins_after == Round(0) && (has_parameters || HasFirstValues(local));
  for (const WaitingCall& call : std::exchange(local.init_requests, {})) {
    local.last_push[call.worker.value()] = begins_after;
    if (begins_after == Round(0)) engine_->OfferValues(step, local.key, local.init_values[call.worker.value()]);
    Buffer parameters = engine_->replicas().CopyIfStill(local.key, begins_after);
    if (has_first || (has_parameters && parameters.empty())) {
      WaitFor(step, call.request, call.worker, local, begins_after);
      if (engine_->HasCompleted(local.key, begins_after)) local.init_values[call.worker.value()] = Buffer();
    } else if (has_parameters) {
      step.actions.emplace_back(WriteResult{call.request, 0, std::move(parameters)});
      Complete(step, call.request, absl::OkStatus(), local.key, begins_after);
    } else {
      BeginWithOwnValues(step, local, call, begins_after);
    }
  }
  if (local.HasFetching()) {
    ContributeWhole(step, local);
    AbstainFrom(step, local.key);
  }
}

bool LocalWorkers::HasFirstValues(const LocalKey& local) const {
  if (!engine_->HasCompleted(local.key, Round(0))) return true;
  int64_t elements = 0;
  engine_->Replay(local.key, Round(0), [&](int64_t, const Buffer& values) { elements += values.elements(); });
  return elements == local.elements;
}

void LocalWorkers::BeginWithOwnValues(StepContext& step, LocalKey& local, const WaitingCall& call, Round begins_after) {
  Buffer own = std::exchange(local.init_values[call.worker.value()], Buffer());
  if (!own.empty()) step.actions.emplace_back(WriteResult{call.request, 0, std::move(own)});
  Complete(step, call.request, absl::OkStatus(), local.key, begins_after);
  if (has_state_[call.worker.value()]) return;
  if (fetching_.HasState(call.worker)) {
    step.Log(LogLevel::kWarning, absl::StrCat("worker ", call.worker.value(), " has called Init after round ",
                                              begins_after.value(), " of key '", local.name,
                                              "': it takes part when it has got the training state of the others"));
  }
  local.last_push[call.worker.value()] = LocalKey::kFetching;
}

void LocalWorkers::ContributeInit(StepContext& step, LocalKey& local) {
  local.takes_part = true;
  local.next_contribution = Round(1);
  LocalRound& round = local.rounds[Round(0)];
  round.kind = RoundKind::kBroadcast;
  round.asked.assign(workers_.size(), true);
  round.waiting = std::exchange(local.init_requests, {});
  round.since = local.init_since;
  Contribution contribution{RoundKind::kBroadcast, Buffer(), 1, 0};
  for (const Buffer& values : local.init_values) {
    if (contribution.values.empty()) contribution.values = values;
  }
  refused_.erase(local.name);
  engine_->Contribute(step, local.key, Round(0), std::move(contribution));
}

void LocalWorkers::OnKeyRefused(StepContext& step, const std::string& name, const std::string& reason) {
  scheduler_->OnKeyAnswered(name);
  LocalKey* const local = keys_.Find(name);
  if (local == nullptr) return;
  Refused refused{absl::InvalidArgumentError(absl::StrCat("key '", name, "' was refused: ", reason)), {}};
  const auto round = local->rounds.find(Round(0));
  // Where it takes part the values here are right, but another node's are not: nobody can begin.
  std::vector<WaitingCall> calls = std::exchange(local->init_requests, {});
  if (round != local->rounds.end()) calls = std::exchange(round->second.waiting, {});
  for (const WaitingCall& call : calls) {
    Complete(step, call.request, refused.why, local->key);
    refusals_.Note(call.worker, name, std::string(refused.why.message()));
    refused.told.insert(call.worker);
    // It may try again.
    local->has_init[call.worker.value()] = false;
  }
  const bool may_be_missed = !calls.empty() && refused.told.size() < workers_.size();
  if (may_be_missed && refused_.size() < NodeReport::kMostRefusals) refused_.insert_or_assign(name, std::move(refused));
  keys_.Remove(name);
}

absl::Status LocalWorkers::CheckPart(const LocalKey& local, WorkerId worker, Round round, RoundKind kind,
                                     const Buffer& values) const {
  if (absl::Status status = local.CheckPart(worker, values, kind, traits_.op); !status.ok()) return status;
  auto known = local.rounds.find(round);
  if (known != local.rounds.end() && known->second.pushed > 0 && known->second.kind != kind) {
    return absl::FailedPreconditionError(absl::StrCat(RoundText(local.name, round), ": workers disagree: a ",
                                                      NameOf(known->second.kind), " for one, a ", NameOf(kind),
                                                      " for worker ", worker.value()));
  }
  // A worker that was here before may have left rounds open that this one has no part in.
  uint64_t open = 0;
  for (const auto& [number, state] : local.rounds) open += !state.complete && state.HasPart(worker);
  if (open > rounds_in_flight_ && known == local.rounds.end()) {
    return absl::ResourceExhaustedError(absl::StrCat(RoundText(local.name, round), ": ", open,
                                                     " rounds are open, rounds_in_flight is ", rounds_in_flight_,
                                                     "; wait for an earlier one first"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Round> LocalWorkers::TakePart(StepContext& step, WorkerId worker, KeyId key, Part part) {
  if (is_lost_[worker.value()] && IsOptimizer(traits_.op)) BeginAnywhere(step, worker);
  const absl::StatusOr<LocalKey*> found = keys_.FindInitialised(key, worker);
  if (!found.ok()) return found.status();
  LocalKey& local = **found;
  const Round round = local.last_push[worker.value()].Next();
  if (LateWorkers::IsLate(local, worker)) return TakeLatePart(step, worker, local, part);
  absl::Status sound = CheckPart(local, worker, round, part.kind, part.values);
  if (!sound.ok()) return sound;
  late_.OnPush(step.now, local, worker);
  local.last_push[worker.value()] = round;
  patterns_.OnPush(worker, key, round);
  LocalRound& state = local.OpenRound(round, part.kind, workers_.size());
  state.has_pushed[worker.value()] = true;
  local.DropOldRounds();
  // It has fetched a state that is behind what this node had contributed, be it of a former worker of this number.
  const bool has_part = !state.in_sum.empty() && state.in_sum[worker.value()];
  if (state.contributed || has_part) return round;
  if (state.pushed == 0) state.since = step.now;
  state.priority = std::max(part.priority, state.pushed == 0 ? part.priority : state.priority);
  if (part.is_left_out) {
    ++state.left_out;
  } else {
    state.gradients[worker.value()] = std::move(part.values);
  }
  ++state.pushed;
  return round;
}

absl::StatusOr<Round> LocalWorkers::TakeLatePart(StepContext& step, WorkerId worker, LocalKey& local,
                                                 const Part& part) {
  absl::Status sound = local.CheckShape(worker, part.values);
  const Buffer gradient = part.is_left_out ? Buffer() : part.values;
  if (sound.ok()) sound = LateWorkers::TakeLatePush(local, worker, part.kind, gradient);
  if (!sound.ok()) return sound;
  late_.OnPush(step.now, local, worker);
  const Round round = local.last_push[worker.value()].Next();
  local.last_push[worker.value()] = round;
  patterns_.OnPush(worker, local.key, round);
  const auto open = local.rounds.find(round);
  if (open != local.rounds.end() && !open->second.complete) open->second.has_pushed[worker.value()] = true;
  local.DropOldRounds();
  return round;
}

void LocalWorkers::ContributeIfWhole(StepContext& step, LocalKey& local, Round round) {
  if (local.IsWhole(round)) Contribute(step, local, round);
}

void LocalWorkers::ContributeWhole(StepContext& step, LocalKey& local) {
  std::vector<Round> rounds;
  for (const auto& [round, state] : local.rounds) rounds.push_back(round);
  for (Round round : rounds) ContributeIfWhole(step, local, round);
  if (!local.takes_part) return;
  engine_->RestoreAbstentions(step, local.key, local.FirstAwaited());
  if (local.waits_from == LocalKey::kNoLimit) TakeLateInits(step, local);
}

void LocalWorkers::Contribute(StepContext& step, LocalKey& local, Round round) {
  LocalRound& state = local.rounds.at(round);
  engine_->OnContributing(local.key, round);
  local.next_contribution = std::max(local.next_contribution, round.Next());
  const bool waits = !state.complete && state.pushed > 0;
  if (waits && !std::exchange(state.is_timed, true)) synchronisation_.Begin(step.now, local.elements);
  const bool is_broadcast = state.kind == RoundKind::kBroadcast;
  std::vector<Buffer> gradients = state.TakeParts(workers_.size());
  if (late_.Counts(local, round)) scheduler_->ReportPushed(local.key, round);
  if (state.kind == RoundKind::kAggregate) late_.OnContribute(step.now, local, round);
  if (!is_broadcast && !local.owed.empty()) gradients.push_back(LateWorkers::TakeOwed(local, state));
  Contribution contribution{state.kind, Buffer(), state.Weight(), state.priority};
  if (gradients.size() <= 1 || is_broadcast || has_low_bit_) {
    if (has_low_bit_ && !is_broadcast) contribution.parts = std::exchange(gradients, {});
    // Where all that was pushed is left out, or nothing was, this node says nothing.
    if (!gradients.empty()) contribution.values = std::move(gradients.front());
    return PutIn(step, local.key, round, std::move(contribution));
  }
  std::vector<CheckedChunk> inputs;
  for (const Buffer& gradient : gradients) inputs.push_back(PlainChunk(gradient, 1));
  auto work = std::make_unique<AccumulateChunk>(Buffer(), true, std::move(inputs), local.elements, local.sum_type(),
                                                computations_->device());
  computations_->Start<AccumulateChunk>(
      step, std::move(work),
      [this, key = local.key, round, contribution](StepContext& later, AccumulateChunk& done) mutable {
        contribution.values = done.accumulator();
        PutIn(later, key, round, std::move(contribution));
      });
}

void LocalWorkers::PutIn(StepContext& step, KeyId key, Round round, Contribution contribution) {
  LocalKey& local = *keys_.Find(key);
  const auto state = local.rounds.find(round);
  if (round >= local.waits_from && state != local.rounds.end()) {
    return state->second.TakeBack(contribution.TakeParts());
  }
  if (contribution.kind == RoundKind::kAggregate && contribution.has_values()) ++contributions_;
  engine_->Contribute(step, key, round, std::move(contribution));
}

void LocalWorkers::WaitFor(StepContext& step, RequestId request, WorkerId worker, LocalKey& local, Round round) {
  if (MissedResults* const missed = LateWorkers::Find(local, worker, round); missed != nullptr) {
    GiveMissed(step, request, local, *missed);
    return Complete(step, request, absl::OkStatus(), local.key, round);
  }
  // One that begins later may ask for a round that no worker here has pushed.
  LocalRound& state = local.rounds[round];
  if (state.asked.empty()) state.asked.resize(workers_.size());
  state.asked[worker.value()] = true;
  if (state.pushed == 0 && state.waiting.empty()) state.since = step.now;
  state.complete = state.complete || engine_->HasCompleted(local.key, round);
  // Kept here and in the engine until every worker has pushed the next round.
  Replay(step, request, local.key, round);
  if (!state.complete) return state.waiting.push_back({worker, request});
  Complete(step, request, absl::OkStatus(), local.key, round);
}

void LocalWorkers::On(StepContext& step, WorkerPush& call) {
  const RoundKind kind = call.flush ? RoundKind::kFlush : RoundKind::kAggregate;
  const bool is_left_out = call.not_finite > 0 && not_finite_.rule() == NotFiniteRule::kSkip;
  absl::StatusOr<Round> round =
      TakePart(step, call.worker, call.key, {kind, std::move(call.gradient), call.priority, is_left_out});
  if (!round.ok()) return Complete(step, call.request, round.status(), call.key);
  LocalKey& local = *keys_.Find(call.key);
  if (call.not_finite > 0) NoteNotFinite(step, local, *round, call);
  if (call.wants_result) {
    WaitFor(step, call.request, call.worker, local, *round);
  } else {
    Complete(step, call.request, absl::OkStatus(), call.key, *round);
    const bool is_over = LateWorkers::Find(local, call.worker, *round) != nullptr;
    if (is_over) step.actions.emplace_back(NotifyRoundComplete{call.worker, call.key, *round});
  }
  ContributeIfWhole(step, local, *round);
  ContributeLate(step, local);
}

void LocalWorkers::NoteNotFinite(StepContext& step, const LocalKey& local, Round round, const WorkerPush& call) {
  const NotFinitePushes::Push push{call.worker, local.key, local.name, local.elements, round, call.not_finite};
  not_finite_.Note(step, push);
  if (not_finite_.rule() != NotFiniteRule::kFail) return;
  // The call waits, and is answered with the job's end.
  listener_->OnRoundBroken(step, local.key, round, NodeId(), NotFinitePushes::Describe(push));
}

void LocalWorkers::On(StepContext& step, WorkerBroadcast& call) {
  absl::StatusOr<Round> round =
      TakePart(step, call.worker, call.key, {RoundKind::kBroadcast, std::move(call.values), call.priority});
  if (!round.ok()) return Complete(step, call.request, round.status(), call.key);
  LocalKey& local = *keys_.Find(call.key);
  WaitFor(step, call.request, call.worker, local, *round);
  ContributeIfWhole(step, local, *round);
}

void LocalWorkers::On(StepContext& step, WorkerPull& call) {
  const absl::StatusOr<LocalKey*> local = keys_.FindInitialised(call.key, call.worker);
  if (!local.ok()) return Complete(step, call.request, local.status());
  WaitFor(step, call.request, call.worker, **local, (*local)->last_push[call.worker.value()]);
}

void LocalWorkers::OnRoundComplete(StepContext& step, KeyId key, Round round) {
  LocalKey* local = keys_.Find(key);
  if (local == nullptr) return;
  local->last_complete = std::max(local->last_complete, round);
  late_.OnRoundComplete(step.now, *local, round);
  auto entry = local->rounds.find(round);
  if (entry == local->rounds.end()) return;
  LocalRound& state = entry->second;
  const bool was_complete = std::exchange(state.complete, true);
  if (round == Round(0)) std::fill(local->init_values.begin(), local->init_values.end(), Buffer());
  if (std::exchange(state.is_timed, false)) synchronisation_.End(step.now);
  for (const WaitingCall& call : std::exchange(state.waiting, {})) {
    MissedResults* const missed = LateWorkers::Find(*local, call.worker, round);
    if (missed != nullptr) GiveMissed(step, call.request, *local, *missed);
    Complete(step, call.request, absl::OkStatus(), key, round);
  }
  for (uint32_t worker = 0; worker < state.has_pushed.size() && !was_complete; ++worker) {
    if (!state.has_pushed[worker] || state.asked[worker]) continue;
    step.actions.emplace_back(std::in_place_type<NotifyRoundComplete>,
                              NotifyRoundComplete{WorkerId(worker), key, round});
  }
  const bool has_next = local->rounds.contains(round.Next());
  if (has_next && late_.Counts(*local, round.Next())) scheduler_->ReportPushed(key, round.Next());
  local->DropOldRounds();
}

void LocalWorkers::AddTo(NodeReport& report) const {
  report.workers_attached = attached();
  report.memory.push_back({"worker segments", static_cast<uint64_t>(keys_.SegmentBytes(rounds_in_flight_))});
  report.progress = keys_.Progress();
  report.missing = waits().Missing();
  report.step = step_;
  report.loss = loss_;
  report.last_sync = synchronisation_.last();
  report.not_finite = not_finite_.Report();
  report.lags = patterns_.Report();
  report.refusals = refusals_.rows();
  report.contributions = contributions_;
  engine_->AddTo(report);
  late_.AddTo(report);
}

void LocalWorkers::FailAll(StepContext& step, const absl::Status& status) {
  if (!failed_.ok()) return;
  failed_ = status;
  step.actions.emplace_back(std::in_place_type<NotifyJobEnded>, NotifyJobEnded{status});
  auto fail = [&](const std::vector<WaitingCall>& calls, const std::string& what, KeyId key, Round round) {
    for (const WaitingCall& call : calls) Complete(step, call.request, Failed(what, status), key, round);
  };
  for (const auto& [name, local] : keys_.by_name()) {
    fail(local.init_requests, absl::StrCat("init of key '", name, "'"), local.key, Round(0));
    for (auto& [round, state] : local.rounds) fail(state.waiting, RoundText(name, round), local.key, round);
  }
  keys_.DropRounds();
  questions_.EndAll(step, status);
  for (const auto& [barrier, waiting] : barriers_.TakeAll()) {
    fail(waiting.calls, absl::StrCat("barrier ", barrier), KeyId(), Round());
  }
}

}  // namespace banyan
