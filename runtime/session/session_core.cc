#include "runtime/session/session_core.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compression/kernels/not_finite.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

// For the answers to what was asked before a good-bye.
constexpr absl::Duration kFarewell = absl::Seconds(5);

absl::Status NoInit() { return absl::FailedPreconditionError("no Init of this key came before"); }

// What a node that joins again ends calls with, as callers know it.
absl::Status AsUnavailable(const absl::Status& status) {
  return absl::IsAborted(status) ? absl::UnavailableError(status.message()) : status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SessionCore>> SessionCore::Open(std::shared_ptr<SessionPort> port, WorkerId worker,
                                                               absl::Duration timeout, absl::Duration answer_timeout) {
  auto core = std::make_unique<SessionCore>(std::move(port), answer_timeout);
  SessionCore* const raw = core.get();
  // The port stops calling before the core is gone: see the destructor.
  raw->port_->Start({[raw](WorkerReply reply, std::shared_ptr<TensorSegment> segment) {
                       raw->OnReply(std::move(reply), std::move(segment));
                     },
                     [raw](absl::Status reason) { raw->FailAll(reason); }});
  const auto operation =
      std::make_shared<Operation>(absl::StrCat("attaching worker ", worker.value()), absl::Span<float>());
  WaitAsker::Serve(raw->asker_, operation, "");
  CallId id;
  {
    Lock lock(raw->keys_->mutex);
    id = raw->Register({.type = CallType::kAttach, .operation = operation});
  }
  if (absl::Status sent = raw->port_->Send(AttachWorker{kProtocolVersion, worker, id}); !sent.ok()) {
    raw->FailAll(sent);
  }
  if (absl::Status status = operation->Wait(timeout); !status.ok()) return status;
  return core;
}

SessionCore::SessionCore(std::shared_ptr<SessionPort> port, absl::Duration answer_timeout)
    : port_(std::move(port)), answer_timeout_(answer_timeout) {}

SessionCore::~SessionCore() { Close(); }

void SessionCore::Close() {
  asker_->Close();
  {
    Lock lock(keys_->mutex);
    if (std::exchange(closed_, true)) return;
    if (failure_.ok()) failure_ = absl::CancelledError("the session was closed");
    // Callbacks that wait for room end.
    keys_->changed.notify_all();
    // Pushes without a ticket that is waited for must not look like a death.
    keys_->changed.wait_for(lock, absl::ToChronoNanoseconds(std::min(kFarewell, answer_timeout_)), [this] {
      return std::none_of(calls_.begin(), calls_.end(), [](const auto& call) { return call.second.prompt; });
    });
  }
  // A node that has gone needs no good-bye.
  (void)port_->Send(WorkerGoodBye{});
  port_->Close();
  EndCalls(absl::CancelledError("the session was closed"), /*may_try_again=*/false);
  callbacks_->Stop();
}

SessionCore::OperationPtr SessionCore::NewOperation(absl::string_view what, absl::Span<float> result,
                                                    Operation::Callback on_done, const std::string& key) const {
  Operation::Callback post;
  if (on_done && IsHere()) {
    post = [callbacks = callbacks_, on_done = std::move(on_done)](const absl::Status& status) {
      callbacks->Post([on_done, status] { on_done(status); });
    };
  } else {
    // A forked child has no thread for callbacks.
    post = std::move(on_done);
  }
  const auto operation =
      std::make_shared<Operation>(absl::StrCat("node ", node_name_, ", ", what), result, std::move(post));
  WaitAsker::Serve(asker_, operation, key);
  return operation;
}

void SessionCore::AskWait(const std::string& key, Operation::Callback done) {
  const auto asking = std::make_shared<Operation>("", absl::Span<float>(), std::move(done));
  StartPlainCall(asking, /*prompt=*/false, [&key](CallId id) { return DescribeWait{id, key}; });
}

SessionCore::OperationPtr SessionCore::KeyOperation(absl::string_view name, absl::Span<float> result,
                                                    Operation::Callback on_done) const {
  return NewOperation(absl::StrCat("key ", name), result, std::move(on_done), std::string(name));
}

CallId SessionCore::Register(Call call) {
  const CallId id = std::exchange(next_call_, next_call_.Next());
  calls_.emplace(id, std::move(call));
  return id;
}

void SessionCore::Send(CallId id, const WorkerMessage& message) {
  const absl::Status status = port_->Send(message);
  if (!status.ok()) On(CallCompleted{id, status, Round()});
}

// ---- starting ----

absl::Status SessionCore::AddKey(const std::string& name, int64_t elements) {
  if (absl::Status status = CheckTensorName(name); !status.ok()) return status;
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return here;
  if (elements == 0) {
    // The others, who wait for this Init, hear of it through the node; nobody waits for its answer here.
    (void)port_->Send(OpenTensor{CallId(), name, 0});
    return absl::InvalidArgumentError("Init with an empty span; expected at least one value");
  }
  Lock lock(keys_->mutex);
  if (!failure_.ok()) return failure_;
  const auto [key, added] = keys_->named.try_emplace(name, elements);
  if (added) return absl::OkStatus();
  const std::string text = absl::StrCat("Init came before, with ", key->second.elements(), " elements");
  if (key->second.elements() == elements) return absl::AlreadyExistsError(text);
  return absl::InvalidArgumentError(absl::StrCat(text, ", and now has ", elements));
}

SessionCore::OperationPtr SessionCore::Init(absl::string_view name, absl::Span<const float> values,
                                            absl::Span<float> agreed, Settings settings) {
  const std::string key(name);
  OperationPtr operation = KeyOperation(name, agreed, std::move(settings.on_done));
  operation->SetRound(0);
  absl::Status status;
  if (!agreed.empty() && agreed.size() != values.size()) {
    status = absl::InvalidArgumentError(
        absl::StrCat("expected room for ", values.size(), " agreed values, got ", agreed.size()));
  }
  if (status.ok()) status = AddKey(key, values.size());
  if (status.ok()) status = OpenMemory(key);
  if (status.ok()) {
    StartTensorCall(operation, key, {.kind = TensorCallKind::kInit, .gradient = values});
  } else {
    operation->Finish(status);
  }
  return operation;
}

absl::Status SessionCore::OpenMemory(const std::string& name) {
  const auto opening =
      std::make_shared<Operation>(absl::StrCat("node ", node_name_, ", key ", name), absl::Span<float>());
  CallId id;
  int64_t elements = 0;
  {
    Lock lock(keys_->mutex);
    if (!failure_.ok()) return failure_;
    id = Register({.type = CallType::kOpen, .operation = opening, .name = name, .prompt = true});
    elements = keys_->named.at(name).elements();
  }
  Send(id, OpenTensor{id, name, elements});
  absl::Status status = opening->Wait(answer_timeout_);
  if (!absl::IsDeadlineExceeded(status)) return status;
  // Unless it is late by a hair's breadth, the key has failed.
  On(CallCompleted{id, absl::UnavailableError("the node does not answer; is its process stopped?"), Round()});
  return opening->Wait(absl::InfiniteDuration());
}

absl::Status SessionCore::CheckShared(const std::string& name, const TensorUse& use) {
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return here;
  {
    Lock lock(keys_->mutex);
    if (!keys_->named.contains(name)) return NoInit();
  }
  if (!HasGradient(use.kind) || (use.lent != nullptr && use.lent->IsOf(*keys_, name))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "expected a shared gradient of this session and key that has not been pushed yet, got another one");
}

absl::Status SessionCore::CheckUse(TensorCallKind kind, const std::string& name, absl::Span<const float> gradient,
                                   absl::Span<float> result) {
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return here;
  Lock lock(keys_->mutex);
  const auto key = keys_->named.find(name);
  if (key == keys_->named.end()) return NoInit();
  const auto check = [&key](absl::string_view what, size_t size) {
    if (static_cast<int64_t>(size) == key->second.elements()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("expected a ", what, " of ", key->second.elements(), " elements, as Init had, got ", size));
  };
  absl::Status status;
  const absl::string_view what = kind == TensorCallKind::kRegisterWeights ? "weight tensor" : "gradient";
  if (HasGradient(kind)) status = check(what, gradient.size());
  if (status.ok() && HasResult(kind)) status = check("result", result.size());
  return status;
}

SessionCore::OperationPtr SessionCore::Start(TensorCallKind kind, absl::string_view name,
                                             absl::Span<const float> gradient, absl::Span<float> result,
                                             Settings settings) {
  const std::string key(name);
  OperationPtr operation = KeyOperation(name, result, std::move(settings.on_done));
  if (absl::Status status = CheckUse(kind, key, gradient, result); !status.ok()) {
    operation->Finish(status);
  } else {
    StartTensorCall(operation, key, {.kind = kind, .gradient = gradient, .priority = settings.priority});
  }
  return operation;
}

absl::StatusOr<SlotLease> SessionCore::LendGradient(absl::string_view name) {
  const std::string key(name);
  const auto take = [](SessionKey& from) -> std::optional<SessionKey::Slots> {
    const std::optional<uint32_t> slot = from.LendGradient();
    if (!slot) return std::nullopt;
    return SessionKey::Slots{.gradient = *slot};
  };
  absl::StatusOr<SessionKey::Slots> slots = NoInit();
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) {
    slots = here;
  } else {
    Lock lock(keys_->mutex);
    if (keys_->named.contains(key)) slots = Reserve(lock, key, {.gradient = true}, take);
    if (slots.ok()) {
      return SlotLease(keys_, key, keys_->named.at(key).segment(), SlotLease::Row::kGradients, slots->gradient);
    }
  }
  const OperationPtr operation = KeyOperation(name, {}, {});
  operation->Finish(slots.status());
  return operation->Wait(absl::InfiniteDuration());
}

SessionCore::OperationPtr SessionCore::StartShared(TensorCallKind kind, absl::string_view name, SlotLease* gradient,
                                                   Settings settings) {
  const std::string key(name);
  OperationPtr operation = KeyOperation(name, {}, std::move(settings.on_done));
  const TensorUse use{.kind = kind, .lent = gradient, .result_stays = HasResult(kind), .priority = settings.priority};
  if (absl::Status status = CheckShared(key, use); !status.ok()) {
    operation->Finish(status);
  } else {
    StartTensorCall(operation, key, use);
  }
  return operation;
}

void SessionCore::StartTensorCall(OperationPtr operation, const std::string& name, const TensorUse& use) {
  Lock lock(keys_->mutex);
  std::optional<uint32_t> lent;
  if (use.lent != nullptr) lent = use.lent->slot();
  const Needs needs{HasGradient(use.kind) && !lent, HasResult(use.kind)};
  const absl::StatusOr<SessionKey::Slots> slots =
      Reserve(lock, name, needs, [&](SessionKey& key) { return key.Take(use.kind, rounds_in_flight_, lent); });
  if (!slots.ok()) {
    lock.unlock();
    return operation->Finish(slots.status());
  }
  if (use.lent != nullptr) use.lent->PassOn();
  if (IsOfARound(use.kind)) operation->SetRound(slots->round);
  const SessionKey& key = keys_->named.at(name);
  const std::shared_ptr<TensorSegment> segment = key.segment();
  const TensorId tensor = key.tensor();
  const CallId id = Register({.type = CallType::kTensor,
                              .operation = std::move(operation),
                              .name = name,
                              .kind = use.kind,
                              .slots = *slots,
                              .prompt = !HasResult(use.kind),
                              .result_stays = use.result_stays});
  lock.unlock();
  const uint64_t not_finite =
      Fill(use, HasGradient(use.kind) ? segment->gradient(slots->gradient) : absl::Span<float>());
  Send(id, TensorCall{id, tensor, use.kind, slots->gradient, slots->result, use.priority, not_finite});
}

uint64_t SessionCore::Fill(const TensorUse& use, absl::Span<float> slot) {
  const int64_t not_finite = use.gradient.empty() ? CountNotFinite(slot) : CopyCountingNotFinite(use.gradient, slot);
  return OpensRound(use.kind) ? static_cast<uint64_t>(not_finite) : 0;
}

absl::StatusOr<SessionKey::Slots> SessionCore::Reserve(Lock& lock, const std::string& name, Needs needs,
                                                       TakeSlots take) {
  SessionKey& key = keys_->named.at(name);
  while (true) {
    if (!failure_.ok()) return failure_;
    if (key.state() == SessionKey::State::kFailed) return key.failure();
    if (const auto slots = take(key)) return *slots;
    if (absl::Status held = key.CheckHeld(needs.gradient, needs.result); !held.ok()) return held;
    keys_->changed.wait(lock);
  }
}

void SessionCore::StartPlainCall(const OperationPtr& operation, bool prompt,
                                 absl::FunctionRef<WorkerMessage(CallId)> make) {
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return operation->Finish(here);
  Lock lock(keys_->mutex);
  if (!failure_.ok()) {
    const absl::Status failure = failure_;
    lock.unlock();
    return operation->Finish(failure);
  }
  const CallId id = Register({.operation = operation, .prompt = prompt});
  lock.unlock();
  Send(id, make(id));
}

SessionCore::OperationPtr SessionCore::Barrier(Settings settings) {
  OperationPtr operation = NewOperation("barrier", {}, std::move(settings.on_done));
  StartPlainCall(operation, /*prompt=*/false, [](CallId id) { return BarrierCall{id}; });
  return operation;
}

SessionCore::OperationPtr SessionCore::ReportLoss(uint64_t step, double loss, Settings settings) {
  OperationPtr operation = NewOperation("loss report", {}, std::move(settings.on_done));
  StartPlainCall(operation, /*prompt=*/true, [step, loss](CallId id) { return ReportLossCall{id, step, loss}; });
  return operation;
}

// ---- replies ----

void SessionCore::OnReply(WorkerReply reply, std::shared_ptr<TensorSegment> segment) {
  std::visit(
      [&](const auto& alternative) {
        if constexpr (requires { this->OnOpened(alternative, segment); }) {
          OnOpened(alternative, std::move(segment));
        } else {
          On(alternative);
        }
      },
      reply);
}

void SessionCore::On(const WorkerAttached& attached) {
  Lock lock(keys_->mutex);
  const auto call = calls_.find(attached.call);
  if (call == calls_.end() || call->second.type != CallType::kAttach) return;
  node_name_ = attached.node_name;
  rounds_in_flight_ = attached.rounds_in_flight;
  const OperationPtr operation = call->second.operation;
  calls_.erase(call);
  lock.unlock();
  operation->Finish(absl::OkStatus());
}

void SessionCore::OnOpened(const TensorOpened& opened, std::shared_ptr<TensorSegment> segment) {
  Lock lock(keys_->mutex);
  const auto call = calls_.find(opened.call);
  if (call == calls_.end() || call->second.type != CallType::kOpen || !segment) return;
  SessionKey& key = keys_->named.at(call->second.name);
  if (opened.elements != key.elements()) {
    lock.unlock();
    return On(CallCompleted{opened.call, absl::InternalError("the node made memory of another size"), Round()});
  }
  key.Opened(opened.tensor, std::move(segment));
  tensors_[opened.tensor] = call->second.name;
  const OperationPtr operation = call->second.operation;
  calls_.erase(call);
  lock.unlock();
  keys_->changed.notify_all();
  operation->Finish(absl::OkStatus());
}

void SessionCore::OnOpened(const StateOpened& opened, std::shared_ptr<TensorSegment> segment) {
  if (segment) state_.OnOpened(std::move(segment));
  On(CallCompleted{opened.call, absl::OkStatus(), Round()});
}

SessionState::Session SessionCore::LendToState() {
  return {.start =
              [this](absl::string_view what, std::function<WorkerMessage(CallId)> make) {
                OperationPtr operation = NewOperation(what, {}, {});
                StartPlainCall(operation, /*prompt=*/false, make);
                return operation;
              },
          .send = [this](const WorkerMessage& message) { return port_->Send(message); },
          .busy_key = [this] { return BusyKey(); }};
}

std::string SessionCore::BusyKey() const {
  Lock lock(keys_->mutex);
  for (const auto& [name, key] : keys_->named) {
    if (key.HasOpenRounds()) return name;
  }
  const auto busy = std::find_if(calls_.begin(), calls_.end(),
                                 [](const auto& call) { return call.second.type == CallType::kTensor; });
  return busy == calls_.end() ? "" : busy->second.name;
}

void SessionCore::On(const CallCompleted& completed) {
  Lock lock(keys_->mutex);
  const auto found = calls_.find(completed.call);
  if (found == calls_.end()) return;
  Call call = found->second;
  absl::Status status = completed.status;
  if (call.type != CallType::kAttach) status = AsUnavailable(status);
  std::shared_ptr<TensorSegment> segment;
  if (call.type == CallType::kTensor) segment = keys_->named.at(call.name).segment();
  lock.unlock();
  const absl::Span<float> result = call.operation->result();
  if (completed.status.ok() && segment && !result.empty()) {
    std::memcpy(result.data(), segment->result(call.slots.result).data(), result.size() * sizeof(float));
  }
  lock.lock();
  if (calls_.erase(completed.call) == 0) return;  // ended by a failure meanwhile
  Answered(call, completed);
  if (completed.status.ok() && call.result_stays) call.operation->KeepShared([&] { return LendResult(call); });
  lock.unlock();
  keys_->changed.notify_all();
  call.operation->SetStep(completed.step);
  if (completed.status.ok() && call.type == CallType::kTensor && IsOfARound(call.kind)) {
    call.operation->SetRound(completed.round.value());
  }
  call.operation->Finish(status);
}

SlotLease SessionCore::LendResult(const Call& call) {
  SessionKey& key = keys_->named.at(call.name);
  key.LendResult(call.slots.result);
  return SlotLease(keys_, call.name, key.segment(), SlotLease::Row::kResults, call.slots.result);
}

void SessionCore::Answered(const Call& call, const CallCompleted& completed) {
  if (call.type != CallType::kTensor && call.type != CallType::kOpen) return;
  const bool ok = completed.status.ok();
  SessionKey& key = keys_->named.at(call.name);
  if (call.type == CallType::kTensor) key.Answered(call.kind, call.slots, ok, completed.round.value());
  const bool opens = call.type == CallType::kOpen || call.kind == TensorCallKind::kInit;
  if (!ok && opens) key.Fail(completed.status);
}

SessionKey* SessionCore::FindKey(TensorId tensor) {
  const auto name = tensors_.find(tensor);
  return name == tensors_.end() ? nullptr : &keys_->named.at(name->second);
}

void SessionCore::On(const SlotFreed& freed) {
  {
    Lock lock(keys_->mutex);
    if (SessionKey* key = FindKey(freed.tensor)) key->GradientFreed(freed.gradient_slot);
  }
  keys_->changed.notify_all();
}

void SessionCore::On(const RoundCompleted& completed) {
  {
    Lock lock(keys_->mutex);
    if (SessionKey* key = FindKey(completed.tensor)) key->RoundCompleted(completed.round.value());
  }
  keys_->changed.notify_all();
}

// Calls that wait get their own answers, which name their keys and rounds.
void SessionCore::On(const JobEnded& ended) {
  {
    Lock lock(keys_->mutex);
    if (failure_.ok()) failure_ = absl::UnavailableError(ended.reason.message());
  }
  keys_->changed.notify_all();
}

void SessionCore::On(const WorkerMessageRejected& rejected) {
  FailAll(absl::InternalError(absl::StrCat("the node refused a message: ", rejected.reason.message())));
}

void SessionCore::FailAll(const absl::Status& reason) {
  absl::Status failure;
  {
    Lock lock(keys_->mutex);
    if (failure_.ok()) failure_ = absl::UnavailableError(reason.message());
    failure = failure_;
  }
  EndCalls(failure, /*may_try_again=*/absl::IsUnavailable(reason));
}

void SessionCore::EndCalls(const absl::Status& status, bool may_try_again) {
  std::map<CallId, Call> calls;
  {
    Lock lock(keys_->mutex);
    calls.swap(calls_);
  }
  keys_->changed.notify_all();
  for (const auto& [id, call] : calls) {
    const bool again = may_try_again && call.type == CallType::kAttach;
    call.operation->Finish(again ? absl::AbortedError(status.message()) : status);
  }
}

}  // namespace banyan
