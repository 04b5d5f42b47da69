#include "sim/processes/simulated_worker.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/digest.h"
#include "sim/training/training_plan.h"

namespace banyan {
namespace {

// A call over a local socket.
constexpr absl::Duration kCallTime = absl::Microseconds(20);

}  // namespace

SimulatedWorker::SimulatedWorker(WorkerName name, uint32_t start, const TrainingPlan* plan, uint64_t seed,
                                 SimulatedProcess* process, Agenda* agenda, WorkerListener* listener)
    : name_(name),
      start_(start),
      plan_(plan),
      random_(seed),
      process_(process),
      agenda_(agenda),
      listener_(listener),
      fetch_timeout_(plan->fetch_timeout) {
  tensors_.resize(plan->tensors.size());
  if (plan->state_bytes > 0) state_.emplace(name.worker, plan->state_bytes);
}

void SimulatedWorker::Call(WorkerCall call) {
  if (!node_has_ended_) return process_->CallLater(kCallTime, std::move(call));
  // Its socket is closed, whoever may listen at the node by now.
  agenda_->CallAfter(kCallTime, [this] { OnNodeEnded(); });
}

void SimulatedWorker::CallOfState(StateCall call) {
  if (!node_has_ended_) return process_->CallLater(kCallTime, std::move(call));
  agenda_->CallAfter(kCallTime, [this] { OnNodeEnded(); });
}

RequestId SimulatedWorker::Ask(Kind kind, size_t tensor, Round round, bool wants_result) {
  const RequestId request(RequestPrefix(name_.worker, start_) + next_request_++);
  Waiting& waiting = waiting_[request];
  waiting.kind = kind;
  waiting.tensor = tensor;
  waiting.round = round;
  if (wants_result) {
    waiting.result.assign(plan_->tensors[tensor].elements, std::numeric_limits<float>::quiet_NaN());
    waiting.written.assign(waiting.result.size(), false);
  }
  return request;
}

void SimulatedWorker::Start() { Call(WorkerAttach{Ask(Kind::kAttach, 0, Round(), false), name_.worker}); }

void SimulatedWorker::Die() {
  if (dead_ || finished_) return;
  Abandon();
  Call(WorkerDetach{name_.worker, /*clean=*/false});
}

void SimulatedWorker::EnterBarrier() { Call(WorkerBarrier{Ask(Kind::kBarrier, 0, Round(), false), name_.worker}); }

void SimulatedWorker::Initialise() {
  if (tensors_.empty()) return Finish();
  for (size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    Buffer values = Buffer::Allocate(plan_->tensors[tensor].elements);
    plan_->Fill(name_, tensor, Round(0), values.mutable_floats());
    const DataType type = plan_->tensors[tensor].type;
    Call(WorkerInit{Ask(Kind::kInit, tensor, Round(0), true), name_.worker, plan_->tensors[tensor].name,
                    InType(std::move(values), type), TensorLayout{{}, type}});
  }
}

absl::Duration SimulatedWorker::ComputeTime() {
  const auto slow = plan_->slowness.find(name_.node);
  const bool is_slow = slow != plan_->slowness.end() && rounds_done() >= plan_->slow_after;
  const double factor = is_slow ? slow->second : 1;
  return factor * (plan_->compute_time + plan_->compute_spread * random_.Unit());
}

void SimulatedWorker::Compute() {
  const absl::Duration at_first = rounds_done() == 0 ? plan_->first_compute_time : absl::ZeroDuration();
  agenda_->CallAfter(ComputeTime() + at_first, [this] {
    // Backward propagation has the last tensor's gradient first.
    // Some may be ahead of the others when this worker comes to a job that runs.
    const uint64_t done = rounds_done();
    for (size_t i = tensors_.size(); i-- > 0;) {
      if (tensors_[i].pushed == done) Push(i);
    }
  });
}

void SimulatedWorker::ComputeTensor(size_t tensor) {
  TensorState& state = tensors_[tensor];
  const bool room = state.pushed - state.done < plan_->rounds_in_flight && state.pushed < plan_->rounds;
  if (state.computing || !room) return;
  state.computing = true;
  agenda_->CallAfter(ComputeTime(), [this, tensor] {
    tensors_[tensor].computing = false;
    Push(tensor);
  });
}

void SimulatedWorker::Push(size_t tensor) {
  if (dead_ || failure_.has_value()) return;
  TensorState& state = tensors_[tensor];
  const Round round(++state.pushed);
  const RoundKind kind = plan_->KindOf(round);
  Buffer gradient = Buffer::Allocate(plan_->tensors[tensor].elements);
  plan_->Fill(name_, tensor, round, gradient.mutable_floats());
  gradient = InType(std::move(gradient), plan_->tensors[tensor].type);
  const bool is_skipped = plan_->IsNotFinite(name_, tensor, round);
  if (is_skipped) gradient.mutable_floats().back() = std::numeric_limits<float>::quiet_NaN();
  if (plan_->weights_every > 0 && round.value() % plan_->weights_every == 0) RegisterWeights(tensor);
  if (plan_->loss && tensor == 0) {
    const double loss = plan_->loss(round);
    Call(WorkerReportLoss{Ask(Kind::kReportLoss, 0, Round(), false), name_.worker, round.value(), loss});
  }
  const int32_t priority = plan_->tensors[tensor].priority;
  listener_->OnPushed(agenda_->now(), name_, tensor, round);
  if (kind == RoundKind::kBroadcast) {
    const RequestId request = Ask(Kind::kBroadcast, tensor, round, true);
    Call(WorkerBroadcast{request, name_.worker, state.key, std::move(gradient), priority});
  } else {
    const RequestId request = Ask(Kind::kPush, tensor, round, !plan_->pull_apart);
    Call(WorkerPush{request, name_.worker, state.key, std::move(gradient), priority, !plan_->pull_apart,
                    kind == RoundKind::kFlush, is_skipped ? 1u : 0u});
    if (plan_->pull_apart) Call(WorkerPull{Ask(Kind::kPull, tensor, round, true), name_.worker, state.key});
  }
  if (plan_->tensors_apart) ComputeTensor(tensor);
}

// Any numbers do, and different ones on each node: what they choose between is whatever this node sends.
void SimulatedWorker::RegisterWeights(size_t tensor) {
  Buffer weights = Buffer::Allocate(plan_->tensors[tensor].elements);
  plan_->FillWeights(name_, tensor, Round(tensors_[tensor].pushed), weights.mutable_floats());
  Call(WorkerRegisterWeights{Ask(Kind::kRegisterWeights, tensor, Round(), false), name_.worker, tensors_[tensor].key,
                             InType(std::move(weights), plan_->tensors[tensor].type)});
}

void SimulatedWorker::OnWriteResult(const WriteResult& write) {
  if (dead_) return;
  const auto found = waiting_.find(write.request);
  const int64_t end = write.first_element + write.values.elements();
  if (found == waiting_.end() || write.first_element < 0 || end > static_cast<int64_t>(found->second.result.size())) {
    listener_->OnMisuse(agenda_->now(), name_, absl::StrCat("a result was written outside of any waiting request"));
    return;
  }
  WriteAsFloats(write.values,
                absl::MakeSpan(found->second.result).subspan(write.first_element, write.values.elements()));
  std::fill(found->second.written.begin() + write.first_element, found->second.written.begin() + end, true);
}

void SimulatedWorker::OnComplete(const CompleteRequest& completion) {
  if (dead_) return;
  const auto found = waiting_.find(completion.request);
  if (found == waiting_.end()) {
    listener_->OnMisuse(agenda_->now(), name_, "a request was completed that does not wait");
    return;
  }
  const std::string text = WaitsFor();
  Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  if (waiting.kind == Kind::kFetchState && !failure_.has_value()) {
    if (completion.status.ok() || absl::IsNotFound(completion.status)) return OnFetched(completion);
    // With the same time each try would fail alike where the state takes longer.
    if (absl::IsDeadlineExceeded(completion.status)) fetch_timeout_ *= 2;
    if (absl::IsUnavailable(completion.status) || absl::IsDeadlineExceeded(completion.status)) return FetchState();
    // Those who had it are gone. It begins anew on purpose.
    if (absl::IsDataLoss(completion.status)) return NeedNoState();
  }
  if (!completion.status.ok()) {
    listener_->OnFailed(agenda_->now(), name_, text, completion.status);
    if (!failure_.has_value()) failure_ = completion.status;
    return;
  }
  if (failure_.has_value()) return;
  CheckResult(waiting, completion);
  switch (waiting.kind) {
    case Kind::kAttach:
      if (plan_->may_begin_late && !state_.has_value()) return NeedNoState();
      return plan_->barrier_first ? EnterBarrier() : Initialise();
    case Kind::kNeedNoState:
      if (state_.has_value()) return Synchronise();
      return plan_->barrier_first ? EnterBarrier() : Initialise();
    case Kind::kInit:
      return OnInitialised(waiting.tensor, completion);
    case Kind::kPush:
      if (plan_->pull_apart) return;
      return OnTensorDone(waiting.tensor);
    case Kind::kPull:
    case Kind::kBroadcast:
      return OnTensorDone(waiting.tensor);
    case Kind::kRegisterWeights:
    case Kind::kReportLoss:
      return;
    case Kind::kBarrier:
      return initialised_ == 0 ? Initialise() : Compute();
    case Kind::kShareState:
      return FetchState();
    case Kind::kFetchState:
      return;
    case Kind::kSynchronise:
      return OnSynchronised(waiting, completion);
    case Kind::kBoundary:
      state_->SetBoundary(std::nullopt);
      return GoOn();
  }
}

void SimulatedWorker::FetchState() {
  state_->BeginFetch();
  asked_at_ = agenda_->now();
  CallOfState(WorkerFetchState{Ask(Kind::kFetchState, 0, Round(), false), name_.worker, fetch_timeout_});
}

void SimulatedWorker::NeedNoState() {
  CallOfState(WorkerShareState{Ask(Kind::kNeedNoState, 0, Round(), false), name_.worker, {}});
}

void SimulatedWorker::OnFetched(const CompleteRequest& completion) {
  if (!completion.status.ok()) return Synchronise();
  fetched_ = completion.step;
  fetched_at_ = agenda_->now();
  const std::optional<ReplicaMark> replica = state_->Fetched();
  if (!replica.has_value() || replica->step != completion.step) {
    listener_->OnMisuse(agenda_->now(), name_, absl::StrCat("got another state than that after ", completion.step));
    return;
  }
  replica_ = *replica;
  listener_->OnReplica(agenda_->now(), name_, replica_);
  for (TensorState& tensor : tensors_) tensor.pushed = tensor.done = completion.step;
  if (rounds_done() == plan_->rounds) return Finish();
  GoOn();
}

void SimulatedWorker::Synchronise() {
  const bool is_late = std::any_of(tensors_.begin(), tensors_.end(), [](const auto& state) { return state.done > 0; });
  if (!is_late) return OnRoundDone();
  for (size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    Call(WorkerPull{Ask(Kind::kSynchronise, tensor, Round(tensors_[tensor].pushed), true), name_.worker,
                    tensors_[tensor].key});
  }
}

void SimulatedWorker::OnSynchronised(const Waiting& waiting, const CompleteRequest& completion) {
  tensors_[waiting.tensor].pushed = tensors_[waiting.tensor].done = completion.round.value();
  if (++synchronised_ == tensors_.size()) BeginAlone();
}

void SimulatedWorker::BeginAlone() {
  replica_ = {rounds_done(), Digest({name_.node.value(), name_.worker.value(), start_, 1}), 0};
  listener_->OnBeganAlone(agenda_->now(), name_, asked_at_);
  OnRoundDone();
}

void SimulatedWorker::UpdateReplica() {
  while (replica_.step < rounds_done()) {
    ++replica_.step;
    for (TensorState& state : tensors_) {
      const auto result = state.results.extract(replica_.step);
      replica_.results = Digest({replica_.results, result.empty() ? 0 : result.mapped()});
    }
  }
  listener_->OnReplica(agenda_->now(), name_, replica_);
}

void SimulatedWorker::OnAsked(const StateTask& task) {
  if (dead_ || !state_.has_value()) return;
  std::optional<StateCall> answer = state_->Answer(task);
  if (answer.has_value()) CallOfState(*std::move(answer));
}

void SimulatedWorker::OnInitialised(size_t tensor, const CompleteRequest& completion) {
  TensorState& state = tensors_[tensor];
  state.key = completion.key;
  state.pushed = state.done = completion.round.value();
  if (++initialised_ < tensors_.size()) return;
  if (state_.has_value()) {
    return CallOfState(WorkerShareState{Ask(Kind::kShareState, 0, Round(), false), name_.worker, state_->shape()});
  }
  if (!plan_->tensors_apart) return OnRoundDone();
  if (AllDone(plan_->rounds)) return Finish();
  for (size_t i = 0; i < tensors_.size(); ++i) ComputeTensor(i);
}

void SimulatedWorker::OnRoundComplete(KeyId key, Round round) {
  if (dead_ || failure_.has_value()) return;
  const auto state = std::find_if(tensors_.begin(), tensors_.end(),
                                  [key](const TensorState& candidate) { return candidate.key == key; });
  // Only pushes without a result are told of, each once.
  const bool expected = plan_->pull_apart && state != tensors_.end() && round.value() <= state->pushed &&
                        plan_->KindOf(round) != RoundKind::kBroadcast && state->told.insert(round).second;
  if (expected) return;
  listener_->OnMisuse(agenda_->now(), name_,
                      absl::StrCat("told of the end of round ", round.value(), " of key ", key.value(),
                                   " a second time or without a push whose result nobody asked for"));
}

void SimulatedWorker::Abandon() {
  dead_ = true;
  waiting_.clear();
}

void SimulatedWorker::OnNodeEnded() {
  node_has_ended_ = true;
  if (dead_ || finished_ || waiting_.empty()) return;
  const std::string text = WaitsFor();
  waiting_.clear();
  if (failure_.has_value()) return;
  failure_ = absl::UnavailableError(absl::StrCat(text, ": the node has ended"));
  listener_->OnFailed(agenda_->now(), name_, text, *failure_);
}

void SimulatedWorker::CheckResult(const Waiting& waiting, const CompleteRequest& completion) {
  if (!IsOfATensor(waiting.kind)) return;
  const bool is_late = waiting.kind == Kind::kInit && completion.round > Round(0) && plan_->may_begin_late;
  if (completion.round != waiting.round && !is_late) {
    listener_->OnMisuse(
        agenda_->now(), name_,
        absl::StrCat("asked for round ", waiting.round.value(), " and got round ", completion.round.value()));
  }
  const auto written = std::count(waiting.written.begin(), waiting.written.end(), true);
  // They are its own: the initial values are gone when a worker comes late.
  if (is_late && !plan_->nodes_have_parameters) return;
  if (written < static_cast<std::ptrdiff_t>(waiting.written.size())) {
    listener_->OnMisuse(agenda_->now(), name_,
                        absl::StrCat("round ", waiting.round.value(), " has holes in its result"));
  }
  if (!waiting.result.empty()) {
    if (state_.has_value() && waiting.round > Round(0)) {
      tensors_[waiting.tensor].results[waiting.round.value()] = HashOf(waiting.result);
    }
    // They may be those after the round before.
    if (is_late && plan_->nodes_have_parameters) return;
    listener_->OnResult(agenda_->now(), name_, waiting.tensor, waiting.round, waiting.result);
  }
}

void SimulatedWorker::OnTensorDone(size_t tensor) {
  TensorState& state = tensors_[tensor];
  ++state.done;
  if (!plan_->tensors_apart) {
    if (AllDone(state.done)) OnRoundDone();
  } else if (AllDone(plan_->rounds)) {
    Finish();
  } else {
    ComputeTensor(tensor);
  }
}

void SimulatedWorker::OnRoundDone() {
  if (state_.has_value()) UpdateReplica();
  if (rounds_done() == plan_->rounds) return Finish();
  // A worker that has begun alone may be ahead with some tensors: between two steps.
  const bool is_between = std::any_of(tensors_.begin(), tensors_.end(),
                                      [this](const TensorState& state) { return state.done != rounds_done(); });
  if (!state_.has_value() || !state_->is_held() || is_between) return GoOn();
  state_->SetBoundary(replica_);
  CallOfState(WorkerPassBoundary{Ask(Kind::kBoundary, 0, Round(), false), name_.worker, rounds_done()});
}

void SimulatedWorker::GoOn() {
  if (plan_->barrier_every > 0 && rounds_done() % plan_->barrier_every == 0) {
    EnterBarrier();
  } else {
    Compute();
  }
}

void SimulatedWorker::Finish() {
  const auto idle = plan_->idle_time.find(name_.node);
  if (idle == plan_->idle_time.end()) return Leave();
  agenda_->CallAfter(idle->second, [this] { Leave(); });
}

void SimulatedWorker::Leave() {
  if (dead_ || failure_.has_value()) return;
  finished_ = true;
  Call(WorkerDetach{name_.worker, /*clean=*/true});
}

bool SimulatedWorker::AllDone(uint64_t rounds) const {
  return std::all_of(tensors_.begin(), tensors_.end(), [&](const TensorState& state) { return state.done >= rounds; });
}

uint64_t SimulatedWorker::rounds_done() const {
  uint64_t done = plan_->rounds;
  for (const TensorState& state : tensors_) done = std::min(done, state.done);
  return done;
}

std::string SimulatedWorker::WaitsFor() const {
  static constexpr const char* kNames[] = {
      "attach",      "init",        "push",          "pull",     "broadcast",   "barrier",    "register-weights",
      "share-state", "fetch-state", "need-no-state", "boundary", "synchronise", "report-loss"};
  std::string text;
  for (const auto& [request, waiting] : waiting_) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", "node ", name_.node.value(), " worker ", name_.worker.value(),
                    ": ", kNames[static_cast<size_t>(waiting.kind)]);
    if (!IsOfATensor(waiting.kind)) continue;
    absl::StrAppend(&text, " of ", plan_->tensors[waiting.tensor].name, " in round ", waiting.round.value());
  }
  return text;
}

}  // namespace banyan
