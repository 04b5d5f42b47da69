#include "node/workers/worker_desk.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "compression/encoded_chunk.h"
#include "node/rounds/chunk_computations.h"

namespace banyan {
namespace {

std::string RoundText(const std::string& key, Round round) {
  return absl::StrCat("key '", key, "' round ", round.value());
}

absl::Status Failed(const std::string& what, const absl::Status& why) {
  return absl::Status(why.code(), absl::StrCat(what, ": ", why.message()));
}

}  // namespace

WorkerDesk::WorkerDesk(NodeId self, const JobConfig& config, const PolicyBook* book, RoundEngine* engine,
                       SchedulerClient* scheduler, ComputationTable* computations, Listener* listener)
    : self_(self),
      book_(book),
      engine_(engine),
      scheduler_(scheduler),
      computations_(computations),
      listener_(listener),
      rounds_in_flight_(config.rounds_in_flight),
      workers_(std::max(1u, config.workers)),
      keys_(workers_.size(), book) {}

absl::Status WorkerDesk::CheckNobodyLeft(const std::string& what, absl::FunctionRef<bool(WorkerId)> took_part) const {
  for (uint32_t worker = 0; worker < workers_.size(); ++worker) {
    if (workers_[worker].state != WorkerState::kDone || took_part(WorkerId(worker))) continue;
    return absl::UnavailableError(
        absl::StrCat(what, ": worker ", worker, " of this node has closed its session; restart the job"));
  }
  return absl::OkStatus();
}

void WorkerDesk::Complete(StepContext& step, RequestId request, absl::Status status, KeyId key, Round round) {
  step.actions.emplace_back(std::in_place_type<CompleteRequest>,
                            CompleteRequest{request, std::move(status), key, round});
}

bool WorkerDesk::IsAttached(WorkerId worker) const {
  return worker.value() < workers_.size() && workers_[worker.value()].state == WorkerState::kAttached;
}

template <typename Call>
WorkerDesk::Subject WorkerDesk::SubjectOf(const Call& call) {
  if constexpr (std::is_same_v<Call, WorkerInit>) return {absl::StrCat("init of key '", call.name, "'"), {}, {}};
  if constexpr (std::is_same_v<Call, WorkerBarrier>) return {"barrier", {}, {}};
  if constexpr (requires { call.key; }) {
    const LocalKey* local = keys_.Find(call.key);
    if (local == nullptr || call.worker.value() >= workers_.size()) {
      return {absl::StrCat("key ", call.key.value()), call.key, {}};
    }
    const Round last = local->last_push[call.worker.value()];
    if constexpr (std::is_same_v<Call, WorkerRegisterWeights>) {
      return {absl::StrCat("weights of key '", local->name, "'"), call.key, {}};
    }
    const Round round = std::is_same_v<Call, WorkerPull> ? last : last.Next();
    return {RoundText(local->name, round), call.key, round};
  }
  return {absl::StrCat("worker ", call.worker.value()), {}, {}};
}

void WorkerDesk::OnCall(StepContext& step, WorkerCall call) {
  std::visit(
      [&](auto& concrete) {
        using Call = std::decay_t<decltype(concrete)>;
        if constexpr (!std::is_same_v<Call, WorkerDetach>) {
          if (!failed_.ok()) {
            const Subject subject = SubjectOf(concrete);
            return Complete(step, concrete.request, Failed(subject.text, failed_), subject.key, subject.round);
          }
          if constexpr (!std::is_same_v<Call, WorkerAttach>) {
            if (!IsAttached(concrete.worker)) {
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

void WorkerDesk::On(StepContext& step, WorkerAttach& call) {
  if (call.worker.value() >= workers_.size()) {
    return Complete(step, call.request,
                    absl::InvalidArgumentError(absl::StrCat(
                        "worker ", call.worker.value(), " attached, but this node has workers 0 to ",
                        workers_.size() - 1, "; start it with --workers or set `workers` in the overlay")));
  }
  WorkerState& state = workers_[call.worker.value()].state;
  if (state == WorkerState::kAttached) {
    return Complete(step, call.request,
                    absl::AlreadyExistsError(absl::StrCat("worker ", call.worker.value(), " is attached already")));
  }
  if (state == WorkerState::kDone) {
    return Complete(
        step, call.request,
        absl::UnavailableError(absl::StrCat("worker ", call.worker.value(), " has left the job; restart the job")));
  }
  state = WorkerState::kAttached;
  // The session lets that many rounds of a key be open at once.
  Complete(step, call.request, absl::OkStatus(), KeyId(), Round(rounds_in_flight_));
}

void WorkerDesk::On(StepContext& step, WorkerDetach& call) {
  if (!IsAttached(call.worker)) return;
  workers_[call.worker.value()].state = call.clean ? WorkerState::kDone : WorkerState::kAbsent;
  if (!failed_.ok()) return;
  if (!call.clean) {
    return listener_->OnWorkerLost(step, call.worker, absl::StrCat("worker ", call.worker.value(), " has died"));
  }
  const std::string missed = MissedBy(call.worker);
  if (!missed.empty()) {
    return listener_->OnWorkerLost(step, call.worker,
                                   absl::StrCat("worker ", call.worker.value(), " closed its session before ", missed));
  }
  const bool all_done = std::all_of(workers_.begin(), workers_.end(),
                                    [](const Worker& worker) { return worker.state == WorkerState::kDone; });
  if (all_done) listener_->OnWorkersDone(step);
}

std::string WorkerDesk::MissedBy(WorkerId gone) const {
  for (const auto& [name, local] : keys_.by_name()) {
    if (!local.has_init[gone.value()]) return absl::StrCat("init of key '", name, "'");
    for (const auto& [round, state] : local.rounds) {
      if (!state.has_pushed.empty() && !state.has_pushed[gone.value()]) return RoundText(name, round);
    }
  }
  for (const auto& [barrier, waiting] : barriers_) {
    if (workers_[gone.value()].barriers <= barrier) return absl::StrCat("barrier ", barrier);
  }
  return "";
}

void WorkerDesk::On(StepContext& step, WorkerInit& call) {
  const std::string name = call.name;
  absl::Status sound = keys_.CheckInit(call);
  if (sound.ok()) {
    sound = CheckNobodyLeft(absl::StrCat("init of key '", name, "'"),
                            [&](WorkerId other) { return keys_.HasInit(name, other); });
  }
  if (!sound.ok()) return Complete(step, call.request, std::move(sound));
  const LocalKey& local = keys_.TakeInit(call);
  const bool is_new = local.initialised == 1 && book_->FindKey(name) == nullptr;
  if (is_new) scheduler_->RegisterKey(name, local.elements);
  OnKeysAssigned(step, {name});
}

void WorkerDesk::OnKeysAssigned(StepContext& step, const std::vector<std::string>& names) {
  const LocalKeys::Assigned assigned = keys_.Assign(names);
  for (const std::string& name : assigned.answered) scheduler_->OnKeyAnswered(name);
  for (LocalKey* local : assigned.ready) ContributeInit(step, *local);
  for (const LocalKeys::Refused& refused : assigned.refused) OnKeyRefused(step, refused.name, refused.reason);
}

void WorkerDesk::ContributeInit(StepContext& step, LocalKey& local) {
  local.init_contributed = true;
  LocalRound& round = local.rounds[Round(0)];
  round.kind = RoundKind::kBroadcast;
  round.asked.assign(workers_.size(), true);
  round.waiting = std::move(local.init_requests);
  Contribution contribution;
  contribution.kind = RoundKind::kBroadcast;
  if (IsSource()) {
    contribution.values = local.init_values.front();
    contribution.weight = 1;
  }
  local.init_values.clear();
  engine_->Contribute(step, local.key, Round(0), std::move(contribution));
}

bool WorkerDesk::IsSource() const {
  const PolicySlice* slice = book_->newest_slice();
  return slice != nullptr && slice->source == self_;
}

void WorkerDesk::OnKeyRefused(StepContext& step, const std::string& name, const std::string& reason) {
  scheduler_->OnKeyAnswered(name);
  for (RequestId request : keys_.Remove(name)) {
    Complete(step, request, absl::InvalidArgumentError(absl::StrCat("key '", name, "' was refused: ", reason)));
  }
}

absl::Status WorkerDesk::CheckPart(const LocalKey& local, WorkerId worker, Round round, RoundKind kind,
                                   const Buffer& values) const {
  if (absl::Status status = local.CheckShape(worker, values); !status.ok()) return status;
  auto known = local.rounds.find(round);
  if (known != local.rounds.end() && known->second.kind != kind) {
    return absl::FailedPreconditionError(absl::StrCat(RoundText(local.name, round), ": workers disagree: a ",
                                                      NameOf(known->second.kind), " for one, a ", NameOf(kind),
                                                      " for worker ", worker.value()));
  }
  uint64_t open = 0;
  for (const auto& [number, state] : local.rounds) open += !state.complete;
  if (open > rounds_in_flight_ && known == local.rounds.end()) {
    return absl::ResourceExhaustedError(absl::StrCat(RoundText(local.name, round), ": ", open,
                                                     " rounds are open, rounds_in_flight is ", rounds_in_flight_,
                                                     "; wait for an earlier one first"));
  }
  return CheckNobodyLeft(RoundText(local.name, round), [&](WorkerId other) {
    return known != local.rounds.end() && known->second.has_pushed[other.value()];
  });
}

absl::StatusOr<Round> WorkerDesk::TakePart(WorkerId worker, KeyId key, RoundKind kind, Buffer values,
                                           int32_t priority) {
  const absl::StatusOr<LocalKey*> found = keys_.FindInitialised(key);
  if (!found.ok()) return found.status();
  LocalKey& local = **found;
  const Round round = local.last_push[worker.value()].Next();
  absl::Status sound = CheckPart(local, worker, round, kind, values);
  if (!sound.ok()) return sound;
  local.last_push[worker.value()] = round;
  LocalRound& state = local.OpenRound(round, kind, workers_.size());
  state.priority = std::max(priority, state.pushed == 0 ? priority : state.priority);
  state.gradients[worker.value()] = std::move(values);
  state.has_pushed[worker.value()] = true;
  ++state.pushed;
  local.DropOldRounds();
  return round;
}

void WorkerDesk::ContributeIfWhole(StepContext& step, LocalKey& local, Round round) {
  if (local.rounds.at(round).pushed == workers_.size()) Contribute(step, local, round);
}

void WorkerDesk::Contribute(StepContext& step, LocalKey& local, Round round) {
  LocalRound& state = local.rounds.at(round);
  state.contributed = true;
  if (!state.complete) synchronisation_.Begin(step.now, local.elements);
  Contribution contribution{state.kind, Buffer(), static_cast<uint32_t>(workers_.size()), state.priority};
  std::vector<Buffer> gradients = std::move(state.gradients);
  state.gradients.clear();
  if (state.kind == RoundKind::kBroadcast) {
    const bool is_source = IsSource();
    contribution.weight = is_source ? 1 : 0;
    if (is_source) contribution.values = std::move(gradients.front());
    return engine_->Contribute(step, local.key, round, std::move(contribution));
  }
  if (gradients.size() == 1) {
    contribution.values = std::move(gradients.front());
    return engine_->Contribute(step, local.key, round, std::move(contribution));
  }
  std::vector<CheckedChunk> inputs;
  for (Buffer& gradient : gradients) inputs.push_back(EncodeChunk({.codec = CodecId::kFp32}, gradient, 1));
  const KeyId key = local.key;
  auto work = std::make_unique<AccumulateChunk>(Buffer(), true, std::move(inputs), local.elements);
  computations_->Start<AccumulateChunk>(
      step, std::move(work), [this, key, round, contribution](StepContext& later, AccumulateChunk& done) mutable {
        contribution.values = done.accumulator();
        engine_->Contribute(later, key, round, std::move(contribution));
      });
}

void WorkerDesk::WaitFor(StepContext& step, RequestId request, WorkerId worker, LocalKey& local, Round round) {
  LocalRound& state = local.rounds.at(round);
  state.asked[worker.value()] = true;
  // Kept here and in the engine until every worker has pushed the next round.
  engine_->Replay(local.key, round, [&](int64_t first_element, const Buffer& values) {
    step.actions.emplace_back(std::in_place_type<WriteResult>, WriteResult{request, first_element, values});
  });
  if (!state.complete) return state.waiting.push_back(request);
  Complete(step, request, absl::OkStatus(), local.key, round);
}

void WorkerDesk::On(StepContext& step, WorkerPush& call) {
  const RoundKind kind = call.flush ? RoundKind::kFlush : RoundKind::kAggregate;
  absl::StatusOr<Round> round = TakePart(call.worker, call.key, kind, std::move(call.gradient), call.priority);
  if (!round.ok()) return Complete(step, call.request, round.status(), call.key);
  LocalKey& local = *keys_.Find(call.key);
  if (call.wants_result) {
    WaitFor(step, call.request, call.worker, local, *round);
  } else {
    Complete(step, call.request, absl::OkStatus(), call.key, *round);
  }
  ContributeIfWhole(step, local, *round);
}

void WorkerDesk::On(StepContext& step, WorkerBroadcast& call) {
  absl::StatusOr<Round> round =
      TakePart(call.worker, call.key, RoundKind::kBroadcast, std::move(call.values), call.priority);
  if (!round.ok()) return Complete(step, call.request, round.status(), call.key);
  LocalKey& local = *keys_.Find(call.key);
  WaitFor(step, call.request, call.worker, local, *round);
  ContributeIfWhole(step, local, *round);
}

void WorkerDesk::On(StepContext& step, WorkerPull& call) {
  const absl::StatusOr<LocalKey*> local = keys_.FindInitialised(call.key);
  if (!local.ok()) return Complete(step, call.request, local.status());
  WaitFor(step, call.request, call.worker, **local, (*local)->last_push[call.worker.value()]);
}

void WorkerDesk::On(StepContext& step, WorkerBarrier& call) {
  const uint64_t barrier = workers_[call.worker.value()].barriers++;
  absl::Status sound = CheckNobodyLeft(absl::StrCat("barrier ", barrier),
                                       [&](WorkerId other) { return workers_[other.value()].barriers > barrier; });
  if (!sound.ok()) return Complete(step, call.request, std::move(sound));
  std::vector<RequestId>& waiting = barriers_[barrier];
  waiting.push_back(call.request);
  if (waiting.size() == workers_.size()) scheduler_->EnterBarrier(barrier);
}

void WorkerDesk::On(StepContext& step, WorkerReportLoss& call) {
  progress_.step = call.step;
  progress_.loss = call.loss;
  Complete(step, call.request, absl::OkStatus());
}

void WorkerDesk::On(StepContext& step, WorkerRegisterWeights& call) {
  const absl::StatusOr<LocalKey*> local = keys_.FindInitialised(call.key);
  absl::Status status = local.ok() ? (*local)->CheckShape(call.worker, call.weights) : local.status();
  if (status.ok()) engine_->RegisterWeights(step, call.key, std::move(call.weights));
  Complete(step, call.request, std::move(status), call.key);
}

void WorkerDesk::OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) {
  LocalKey* local = keys_.Find(key);
  if (local == nullptr) return;
  auto state = local->rounds.find(round);
  if (state == local->rounds.end()) return;
  for (RequestId request : state->second.waiting) {
    step.actions.emplace_back(std::in_place_type<WriteResult>, WriteResult{request, first_element, values});
  }
}

void WorkerDesk::OnRoundComplete(StepContext& step, KeyId key, Round round) {
  LocalKey* local = keys_.Find(key);
  if (local == nullptr) return;
  auto entry = local->rounds.find(round);
  if (entry == local->rounds.end()) return;
  LocalRound& state = entry->second;
  const bool was_complete = std::exchange(state.complete, true);
  if (state.contributed && !was_complete) synchronisation_.End(step.now);
  local->last_complete = std::max(local->last_complete, round);
  for (RequestId request : std::exchange(state.waiting, {})) Complete(step, request, absl::OkStatus(), key, round);
  for (uint32_t worker = 0; worker < state.has_pushed.size() && !was_complete; ++worker) {
    if (!state.has_pushed[worker] || state.asked[worker]) continue;
    step.actions.emplace_back(std::in_place_type<TellRoundComplete>, TellRoundComplete{WorkerId(worker), key, round});
  }
  local->DropOldRounds();
}

void WorkerDesk::OnBarrierReleased(StepContext& step, uint64_t barrier) {
  auto waiting = barriers_.extract(barrier);
  if (waiting.empty()) return;
  for (RequestId request : waiting.mapped()) Complete(step, request, absl::OkStatus());
}

void WorkerDesk::FailAll(StepContext& step, const absl::Status& status) {
  if (!failed_.ok()) return;
  failed_ = status;
  step.actions.emplace_back(std::in_place_type<TellJobEnded>, TellJobEnded{status});
  auto fail = [&](const std::vector<RequestId>& requests, const std::string& what, KeyId key, Round round) {
    for (RequestId request : requests) Complete(step, request, Failed(what, status), key, round);
  };
  for (const auto& [name, local] : keys_.by_name()) {
    fail(local.init_requests, absl::StrCat("init of key '", name, "'"), local.key, Round(0));
    for (auto& [round, state] : local.rounds) fail(state.waiting, RoundText(name, round), local.key, round);
  }
  keys_.DropRounds();
  for (auto& [barrier, waiting] : barriers_) fail(waiting, absl::StrCat("barrier ", barrier), KeyId(), Round());
  barriers_.clear();
}

int64_t WorkerDesk::worker_segment_bytes() const {
  return keys_.initialised_elements() * (2 * int64_t{rounds_in_flight_} + 1) * SizeOf(DataType::kFloat32);
}

uint32_t WorkerDesk::attached() const {
  return std::count_if(workers_.begin(), workers_.end(),
                       [](const Worker& worker) { return worker.state == WorkerState::kAttached; });
}

}  // namespace banyan
