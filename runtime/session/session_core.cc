#include "runtime/session/session_core.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compression/kernels/vector_math.h"
#include "core/time.h"
#include "posix/process_limits.h"
#include "posix/steady_clock.h"
#include "proto/session_codec.h"
#include "proto/session_messages.h"
#include "runtime/workers/worker_connection.h"

namespace banyan {
namespace {

// For the answers to what was asked before a good-bye.
constexpr absl::Duration kFarewell = absl::Seconds(5);

absl::Status CheckAgreed(ConstTensorView values, ConstTensorView agreed) {
  if (agreed.empty() || (agreed.elements() == values.elements() && agreed.type() == values.type())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("expected room for ", values.elements(), " agreed values of ",
                                                 NameOf(values.type()), ", got ", agreed.elements(), " of ",
                                                 NameOf(agreed.type())));
}

// An empty tensor travels with a number that nobody sees.
TensorLayout LayoutOf(const std::string& key, ConstTensorView values) {
  TensorLayout layout = {{}, values.type()};
  if (values.empty()) layout.parts = {{key, 0}, {"padding", 1}};
  return layout;
}

auto CopyOf(ConstTensorView values) {
  return [values](TensorView slot) { return values.empty() ? int64_t{0} : CopyCountingNotFinite(values, slot); };
}

// Fills the slot of a call, or takes it as it is without `fill`. Returns how many values of a gradient are not finite;
// 0 for a call that begins no round.
uint64_t FillSlot(const std::function<int64_t(TensorView slot)>& fill, TensorCallKind kind, TensorView slot) {
  if (slot.empty() || (!fill && !OpensRound(kind))) return 0;
  const int64_t not_finite = fill ? fill(slot) : CountNotFinite(ConstTensorView(slot));
  return OpensRound(kind) ? static_cast<uint64_t>(not_finite) : 0;
}

absl::Status NoInit() { return absl::FailedPreconditionError("no Init of this key came before"); }

// What a node that joins again ends calls with, as callers know it.
absl::Status AsUnavailable(const absl::Status& status) {
  return absl::IsAborted(status) ? absl::UnavailableError(status.message()) : status;
}

// Before a node that has gone is tried again: it gives nothing to wait on.
constexpr absl::Duration kPause = absl::Milliseconds(20);

absl::Duration TimeLeft(Timestamp deadline) {
  return deadline == kNever ? absl::InfiniteDuration() : deadline - SteadyNow();
}

// In a form that clocks can add to the time.
constexpr absl::Duration kLongestWait = absl::Hours(24 * 365);
// Before the time-out, for the answer to the question for whom it waits.
constexpr absl::Duration kRoomAnswer = absl::Seconds(1);

// What the question has brought. Thread-safe; shared with the question, which may outlive the wait.
class Answer {
 public:
  void Set(const absl::Status& answer) {
    if (!absl::IsDeadlineExceeded(answer)) return;
    std::lock_guard<std::mutex> lock(mutex_);
    text_ = absl::StrCat(": ", answer.message());
  }
  std::string text() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;  // guarded by mutex_
};

// The waits of one call for room. Thread-compatible; guarded by the mutex of `keys`.
class RoomWait {
 public:
  RoomWait(SessionKeys& keys, absl::Duration timeout)
      : keys_(keys),
        timeout_(std::clamp(timeout, absl::ZeroDuration(), kLongestWait)),
        deadline_(SteadyNow() + timeout_),
        ask_at_(deadline_ + -std::min(kRoomAnswer, timeout_ / 2)) {}

  // Waits for a change; false when the time is over. Asks once, shortly before that: `ask` is given what takes a
  // DEADLINE_EXCEEDED that says for whom the key waits, on any thread.
  bool Wait(std::unique_lock<std::mutex>& lock, absl::FunctionRef<void(Operation::Callback done)> ask) {
    const Timestamp until = has_asked_ ? deadline_ : ask_at_;
    const absl::Duration left = std::max(until - SteadyNow(), absl::ZeroDuration());
    keys_.changed.wait_for(lock, absl::ToChronoNanoseconds(left));
    if (SteadyNow() < until) return true;
    if (std::exchange(has_asked_, true)) return false;
    lock.unlock();
    ask([answer = answer_](const absl::Status& status) { answer->Set(status); });
    lock.lock();
    return true;
  }
  std::string answer() const { return answer_->text(); }

 private:
  SessionKeys& keys_;
  const absl::Duration timeout_;
  const Timestamp deadline_;
  const Timestamp ask_at_;
  bool has_asked_ = false;
  const std::shared_ptr<Answer> answer_ = std::make_shared<Answer>();
};

}  // namespace

absl::StatusOr<std::unique_ptr<SessionCore>> SessionCore::Open(std::shared_ptr<SessionPort> port, WorkerId worker,
                                                               absl::Duration timeout, SessionPatience patience) {
  auto core = std::make_unique<SessionCore>(std::move(port), patience);
  SessionCore* const raw = core.get();
  // The port stops calling before the core is gone: see the destructor.
  raw->port_->Start({[raw](WorkerReply reply, std::shared_ptr<TensorSegment> segment) {
                       raw->OnReply(std::move(reply), std::move(segment));
                     },
                     [raw](absl::Status reason) { raw->FailAll(reason); }});
  const auto operation = std::make_shared<Operation>(absl::StrCat("attaching worker ", worker.value()), TensorView());
  raw->make_.LetAsk(operation);
  CallId id;
  {
    Lock lock(raw->keys_->mutex);
    raw->worker_ = worker;
    id = raw->Register({.type = CallType::kAttach, .operation = operation});
  }
  if (absl::Status sent = raw->port_->Send(AttachWorker{kProtocolVersion, worker, id}); !sent.ok()) {
    raw->FailAll(sent);
  }
  if (absl::Status status = operation->Wait(timeout); !status.ok()) return status;
  return core;
}

SessionCore::SessionCore(std::shared_ptr<SessionPort> port, SessionPatience patience)
    : port_(std::move(port)), patience_(patience) {}

SessionCore::~SessionCore() { Close(); }

void SessionCore::Close() {
  SayGoodBye();
  make_.StopCallbacks();
}

void SessionCore::End(bool in_order) {
  make_.StopAsking();
  absl::Status failure;
  {
    Lock lock(keys_->mutex);
    if (std::exchange(closed_, true)) return;
    if (failure_.ok()) failure_ = absl::CancelledError("the session was closed");
    failure = failure_;
  }
  groups_.End(failure);
  {
    Lock lock(keys_->mutex);
    // Callbacks that wait for room end.
    keys_->changed.notify_all();
    // Pushes without a ticket that is waited for must not look like a death.
    const absl::Duration patience = in_order ? std::min(kFarewell, patience_.answer) : absl::ZeroDuration();
    keys_->changed.wait_for(lock, absl::ToChronoNanoseconds(patience), [this] {
      return std::none_of(calls_.begin(), calls_.end(), [](const auto& call) { return call.second.prompt; });
    });
  }
  // A node that has gone, or has stopped, needs no good-bye.
  if (in_order) (void)port_->TrySend(WorkerGoodBye{}, std::min(kFarewell, patience_.answer));
  port_->Close();
  EndCalls(absl::CancelledError("the session was closed"), /*may_try_again=*/false);
}

void SessionCore::AskWait(const std::string& key, uint64_t round, Operation::Callback done) {
  if (const std::string own = groups_.DescribeMissing(key, round); !own.empty()) {
    return done(absl::DeadlineExceededError(own));
  }
  const auto asking = std::make_shared<Operation>("", TensorView(), std::move(done));
  CallId id;
  {
    Lock lock(keys_->mutex);
    if (!failure_.ok()) return;
    id = Register({.operation = asking});
  }
  // Whoever asks has a time-out: what the node does not read at once is not asked.
  if (const absl::Status sent = port_->TrySend(DescribeWait{id, key}, absl::ZeroDuration()); !sent.ok()) {
    On(CallCompleted{id, sent, Round()});
  }
}

CallId SessionCore::Register(Call call) {
  const CallId id = std::exchange(next_call_, next_call_.Next());
  calls_.emplace(id, std::move(call));
  return id;
}

absl::Status SessionCore::CheckStart() const {
  if (!failure_.ok()) return failure_;
  if (calls_.size() + 1 < static_cast<size_t>(kMaxWaitingCalls)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("this worker has ", calls_.size(),
                                                   " calls that wait for their end, which is the most; wait for some"));
}

void SessionCore::Send(CallId id, const WorkerMessage& message) {
  const absl::Status status = port_->Send(message);
  if (!status.ok()) On(CallCompleted{id, status, Round()});
}

// ---- starting ----

absl::Status SessionCore::AddKey(const std::string& name, int64_t elements, DataType type) {
  if (absl::Status status = CheckTensorName(name); !status.ok()) return status;
  if (elements < 0 || elements > kMaxTensorElements) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a tensor of 0 to ", kMaxTensorElements, " elements, got ", elements));
  }
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return here;
  if (groups_.IsPart(name)) return absl::AlreadyExistsError("it came before in a group, with InitGroup");
  Lock lock(keys_->mutex);
  if (!failure_.ok()) return failure_;
  return keys_->Add(name, elements, type);
}

SessionCore::OperationPtr SessionCore::Init(absl::string_view name, ConstTensorView values, TensorView agreed,
                                            Settings settings) {
  const std::string key(name);
  OperationPtr operation = make_.MakeForKey(name, agreed, std::move(settings.on_done));
  operation->SetRound(0);
  absl::Status status = CheckAgreed(values, agreed);
  if (status.ok()) status = AddKey(key, values.elements(), values.type());
  if (status.ok()) status = OpenMemory(key, LayoutOf(key, values));
  if (status.ok()) {
    StartTensorCall(operation, key, {.kind = TensorCallKind::kInit, .fill = CopyOf(values)});
  } else {
    operation->Finish(status);
  }
  return operation;
}

absl::Status SessionCore::OpenMemory(const std::string& name, const TensorLayout& layout) {
  // The Init's operation describes its errors.
  const auto opening = std::make_shared<Operation>("", TensorView());
  CallId id;
  int64_t elements = 0;
  bool is_asked = false;
  {
    Lock lock(keys_->mutex);
    if (absl::Status status = CheckStart(); !status.ok()) return status;
    const SessionKey& key = keys_->named.at(name);
    if (key.segment() != nullptr) return absl::OkStatus();  // it came after an earlier Init had given up
    elements = key.slot_elements();
    Call call = {.type = CallType::kOpen, .operation = opening, .name = name, .prompt = true};
    if (const auto late = late_opens_.extract(name); !late.empty()) {
      id = late.mapped();
      calls_.emplace(id, std::move(call));
      is_asked = true;
    } else {
      id = Register(std::move(call));
    }
  }
  if (!is_asked) {
    const Lock in_order(opening_);
    for (const DescribeGroup& message : DescribeInMessages(layout)) Send(id, message);
    Send(id, OpenTensor{id, name, elements, layout.type});
  }
  absl::Status status = opening->Wait(patience_.answer);
  if (!absl::IsDeadlineExceeded(status)) return status;
  // Unless it is late by a hair's breadth, the key has failed, until its Init is called again.
  {
    Lock lock(keys_->mutex);
    if (calls_.contains(id)) late_opens_[name] = id;
  }
  On(CallCompleted{id, absl::UnavailableError("the node does not answer; is its process stopped?"), Round()});
  return opening->Wait(absl::InfiniteDuration());
}

absl::Status SessionCore::CheckShared(const std::string& name, const TensorUse& use) {
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return here;
  if (absl::Status status = groups_.CheckShared(use.kind, name); !status.ok()) return status;
  {
    Lock lock(keys_->mutex);
    if (!keys_->named.contains(name)) return NoInit();
  }
  if (!HasGradient(use.kind) || (use.lent != nullptr && use.lent->IsOf(*keys_, name))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "expected a shared gradient of this session and key that has not been pushed yet, got another one");
}

absl::Status SessionCore::CheckUse(TensorCallKind kind, const std::string& name, ConstTensorView gradient,
                                   TensorView result) {
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return here;
  Lock lock(keys_->mutex);
  const auto key = keys_->named.find(name);
  if (key == keys_->named.end()) return NoInit();
  return key->second.CheckShapes(kind, gradient, result);
}

SessionCore::OperationPtr SessionCore::Start(TensorCallKind kind, absl::string_view name, ConstTensorView gradient,
                                             TensorView result, Settings settings) {
  OperationPtr grouped = groups_.Start(kind, name, gradient, result, settings.priority, settings.on_done);
  if (grouped != nullptr) return grouped;
  const std::string key(name);
  OperationPtr operation = make_.MakeForKey(name, result, std::move(settings.on_done));
  if (absl::Status status = CheckUse(kind, key, gradient, result); !status.ok()) {
    operation->Finish(status);
  } else {
    StartTensorCall(operation, key, {.kind = kind, .fill = CopyOf(gradient), .priority = settings.priority});
  }
  return operation;
}

absl::StatusOr<SessionGroup::Room> SessionCore::Lend(const std::string& name) {
  const auto take = [](SessionKey& from) -> std::optional<SessionKey::Slots> {
    const std::optional<uint32_t> slot = from.LendGradient();
    if (!slot) return std::nullopt;
    return SessionKey::Slots{.gradient = *slot, .round = from.next_round()};
  };
  Lock lock(keys_->mutex);
  const absl::StatusOr<SessionKey::Slots> slots = Reserve(lock, name, /*gradient=*/true, /*result=*/false, take);
  if (!slots.ok()) return slots.status();
  SlotLease lease(keys_, name, keys_->named.at(name).segment(), SlotLease::Row::kGradients, slots->gradient);
  return SessionGroup::Room{std::move(lease), slots->round};
}

absl::StatusOr<SlotLease> SessionCore::LendGradient(absl::string_view name) {
  absl::Status status = keys_->process.Check("session");
  // Which begins no round yet.
  if (status.ok()) status = groups_.CheckShared(TensorCallKind::kRegisterWeights, name);
  if (status.ok()) {
    absl::StatusOr<SessionGroup::Room> room = Lend(std::string(name));
    if (room.ok()) return std::move(room->gradient);
    status = room.status();
  }
  const OperationPtr operation = make_.MakeForKey(name);
  operation->Finish(status);
  return operation->Wait(absl::InfiniteDuration());
}

SessionCore::OperationPtr SessionCore::StartShared(TensorCallKind kind, absl::string_view name, SlotLease* gradient,
                                                   Settings settings) {
  const std::string key(name);
  OperationPtr operation = make_.MakeForKey(name, {}, std::move(settings.on_done));
  const auto keeper = HasResult(kind) ? SessionKey::Holder::kWorker : SessionKey::Holder::kNobody;
  const TensorUse use{.kind = kind, .lent = gradient, .keeper = keeper, .priority = settings.priority};
  if (absl::Status status = CheckShared(key, use); !status.ok()) {
    operation->Finish(status);
  } else {
    StartTensorCall(operation, key, use);
  }
  return operation;
}

void SessionCore::StartTensorCall(OperationPtr operation, const std::string& name, const TensorUse& use) {
  Lock lock(keys_->mutex);
  if (absl::Status status = CheckStart(); !status.ok()) {
    lock.unlock();
    return operation->Finish(status);
  }
  std::optional<uint32_t> lent;
  if (use.lent != nullptr) lent = use.lent->slot();
  const absl::StatusOr<SessionKey::Slots> slots =
      Reserve(lock, name, HasGradient(use.kind) && !lent, HasResult(use.kind),
              [&](SessionKey& key) { return key.Take(use.kind, rounds_in_flight_, lent); });
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
                              .keeper = use.keeper});
  lock.unlock();
  const TensorView slot = HasGradient(use.kind) ? segment->gradient(slots->gradient) : TensorView();
  const uint64_t not_finite = FillSlot(use.fill, use.kind, slot);
  Send(id, TensorCall{id, tensor, use.kind, slots->gradient, slots->result, use.priority, not_finite});
}

absl::StatusOr<SessionKey::Slots> SessionCore::Reserve(Lock& lock, const std::string& name, bool gradient, bool result,
                                                       TakeSlots take) {
  if (!keys_->named.contains(name)) return NoInit();
  SessionKey& key = keys_->named.at(name);
  RoomWait wait(*keys_, patience_.room);
  bool is_late = false;
  while (true) {
    if (!failure_.ok()) return failure_;
    if (key.state() == SessionKey::State::kFailed) return key.failure();
    if (const std::optional<SessionKey::Slots> slots = take(key)) return *slots;
    if (absl::Status held = key.CheckHeld(gradient, result); !held.ok()) return held;
    if (is_late) break;
    is_late = !wait.Wait(lock, [&](Operation::Callback done) { AskWait(name, /*round=*/0, std::move(done)); });
  }
  const bool is_ready = key.state() == SessionKey::State::kReady;
  return absl::DeadlineExceededError(absl::StrCat(is_ready ? "no room for this call" : "the key's Init was not done",
                                                  " after ", absl::FormatDuration(patience_.room),
                                                  "; it was not started", wait.answer()));
}

void SessionCore::StartPlainCall(const OperationPtr& operation, bool prompt,
                                 absl::FunctionRef<WorkerMessage(CallId)> make) {
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return operation->Finish(here);
  Lock lock(keys_->mutex);
  if (absl::Status status = CheckStart(); !status.ok()) {
    lock.unlock();
    return operation->Finish(status);
  }
  const CallId id = Register({.operation = operation, .prompt = prompt});
  lock.unlock();
  Send(id, make(id));
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
  make_.set_node_name(attached.node_name);
  rounds_in_flight_ = attached.rounds_in_flight;
  job_ = attached.job;
  const OperationPtr operation = call->second.operation;
  calls_.erase(call);
  lock.unlock();
  operation->Finish(absl::OkStatus());
}

void SessionCore::OnOpened(const TensorOpened& opened, std::shared_ptr<TensorSegment> segment) {
  Lock lock(keys_->mutex);
  const auto late = std::find_if(late_opens_.begin(), late_opens_.end(),
                                 [&opened](const auto& each) { return each.second == opened.call; });
  if (late != late_opens_.end() && segment) {
    SessionKey& key = keys_->named.at(late->first);
    if (opened.elements == key.slot_elements() && opened.type == key.type()) {
      key.Keep(opened.tensor, std::move(segment));
      tensors_[opened.tensor] = late->first;
    }
    late_opens_.erase(late);
    return;
  }
  const auto call = calls_.find(opened.call);
  if (call == calls_.end() || call->second.type != CallType::kOpen || !segment) return;
  SessionKey& key = keys_->named.at(call->second.name);
  if (opened.elements != key.slot_elements() || opened.type != key.type()) {
    lock.unlock();
    return On(CallCompleted{opened.call, absl::InternalError("the node made memory of another shape"), Round()});
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
                OperationPtr operation = make_.Make(what);
                StartPlainCall(operation, /*prompt=*/false, make);
                return operation;
              },
          .send = [this](const WorkerMessage& message) { return port_->Send(message); },
          .busy_key = [this] { return BusyKey(); }};
}

SessionGroups::Session SessionCore::LendToGroups() {
  const auto start = [this](OperationPtr whole, const std::string& group, TensorUse use) {
    use.keeper = HasResult(use.kind) ? SessionKey::Holder::kSession : SessionKey::Holder::kNobody;
    StartTensorCall(std::move(whole), group, use);
  };
  return {.open =
              [this](const std::string& group, const TensorLayout& layout) {
                absl::Status added = AddKey(group, layout.Elements(), layout.type);
                return added.ok() ? OpenMemory(group, layout) : added;
              },
          .init =
              [start](OperationPtr whole, const std::string& group, std::function<void(TensorView)> fill) {
                // Initial values are nobody's gradient.
                const auto counted = [fill = std::move(fill)](TensorView slot) { return fill(slot), int64_t{0}; };
                start(std::move(whole), group, {.kind = TensorCallKind::kInit, .fill = counted});
              },
          .is_key =
              [this](const std::string& name) {
                Lock lock(keys_->mutex);
                const auto key = keys_->named.find(name);
                return key != keys_->named.end() && key->second.state() != SessionKey::State::kFailed;
              },
          .of_one = {.lend = [this](const std::string& group) { return Lend(group); },
                     .start =
                         [start](OperationPtr whole, const std::string& group, TensorCallKind kind, SlotLease* gradient,
                                 int32_t priority) {
                           start(std::move(whole), group, {.kind = kind, .lent = gradient, .priority = priority});
                         }}};
}

std::string SessionCore::BusyKey() const {
  if (std::string group = groups_.Filling(); !group.empty()) return group;
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
  if (found == calls_.end()) {
    std::erase_if(late_opens_, [&completed](const auto& each) { return each.second == completed.call; });
    return;
  }
  Call call = found->second;
  absl::Status status = completed.status;
  if (call.type != CallType::kAttach) status = AsUnavailable(status);
  std::shared_ptr<TensorSegment> segment;
  if (call.type == CallType::kTensor) segment = keys_->named.at(call.name).segment();
  lock.unlock();
  const TensorView result = call.operation->result();
  if (completed.status.ok() && segment && !result.empty()) {
    call.operation->UseResult(
        [&] { std::memcpy(result.data(), segment->result(call.slots.result).data(), result.size_bytes()); });
  }
  lock.lock();
  if (calls_.erase(completed.call) == 0) return;  // ended by a failure meanwhile
  Answered(call, completed);
  if (completed.status.ok() && call.keeper != SessionKey::Holder::kNobody) {
    call.operation->KeepShared([&] { return LendResult(call); });
  }
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
  key.LendResult(call.slots.result, call.keeper);
  return SlotLease(keys_, call.name, key.segment(), SlotLease::Row::kResults, call.slots.result);
}

void SessionCore::Answered(const Call& call, const CallCompleted& completed) {
  if (call.type != CallType::kTensor && call.type != CallType::kOpen) return;
  const bool ok = completed.status.ok();
  SessionKey& key = keys_->named.at(call.name);
  if (call.type == CallType::kTensor) key.Answered(call.kind, call.slots, ok, completed.round.value());
  const bool opens = call.type == CallType::kOpen || call.kind == TensorCallKind::kInit;
  if (ok || !opens) return;
  // What the node says of its memory from now on is not about that of the next Init.
  tensors_.erase(key.tensor());
  key.Fail(completed.status);
}

void SessionCore::ChangeKey(TensorId tensor, absl::FunctionRef<void(SessionKey&)> change) {
  {
    Lock lock(keys_->mutex);
    const auto name = tensors_.find(tensor);
    if (name != tensors_.end()) change(keys_->named.at(name->second));
  }
  keys_->changed.notify_all();
}

void SessionCore::On(const SlotFreed& freed) {
  ChangeKey(freed.tensor, [&freed](SessionKey& key) { key.GradientFreed(freed.gradient_slot); });
}

void SessionCore::On(const RoundCompleted& completed) {
  ChangeKey(completed.tensor, [&completed](SessionKey& key) { key.RoundCompleted(completed.round.value()); });
}

// Calls that wait get their own answers, which name their keys and rounds.
void SessionCore::On(const JobEnded& ended) {
  (void)NoteFailure(ended.reason);
  keys_->changed.notify_all();
}

void SessionCore::On(const WorkerMessageRejected& rejected) {
  FailAll(absl::InternalError(absl::StrCat("the node refused a message: ", rejected.reason.message())));
}

void SessionCore::On(const MembersChanged& changed) {
  {
    Lock lock(keys_->mutex);
    growing_members_.epoch = changed.epoch;
    growing_members_.members.insert(growing_members_.members.end(), changed.members.begin(), changed.members.end());
    if (changed.has_more) return;
    MembersChanged grown = std::exchange(growing_members_, {});
    const auto is_own = [this](const JobMember& member) { return member.name == make_.node_name(); };
    if (std::none_of(grown.members.begin(), grown.members.end(), is_own)) return;  // not let in yet
    members_ = std::move(grown);
  }
  keys_->changed.notify_all();
}

absl::StatusOr<MembersChanged> SessionCore::Members(uint64_t after, absl::Duration timeout) {
  if (absl::Status here = keys_->process.Check("session"); !here.ok()) return here;
  constexpr absl::Duration kLongest = absl::Hours(24 * 365);  // that clocks can add to the time
  Lock lock(keys_->mutex);
  const bool is_there =
      keys_->changed.wait_for(lock, absl::ToChronoNanoseconds(std::clamp(timeout, absl::ZeroDuration(), kLongest)),
                              [&] { return members_.epoch.value() > after || !failure_.ok(); });
  if (!failure_.ok()) return failure_;
  if (is_there) return members_;
  return absl::DeadlineExceededError(after == 0 ? "the job has not started"
                                                : "the members of the job have not changed");
}

void SessionCore::FailAll(const absl::Status& reason) {
  EndCalls(NoteFailure(reason), /*may_try_again=*/absl::IsUnavailable(reason));
}

absl::Status SessionCore::NoteFailure(const absl::Status& reason) {
  absl::Status failure;
  {
    Lock lock(keys_->mutex);
    if (failure_.ok()) failure_ = absl::UnavailableError(reason.message());
    failure = failure_;
  }
  groups_.End(failure);
  return failure;
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

// ---- on nodes that come and go ----

absl::StatusOr<std::unique_ptr<SessionCore>> OpenSessionCore(
    absl::FunctionRef<absl::StatusOr<std::shared_ptr<SessionPort>>(absl::Duration timeout)> connect, WorkerId worker,
    absl::Duration timeout, SessionPatience patience) {
  // Descriptors of tensors pass through this process.
  RaiseDescriptorLimit();
  const Timestamp deadline = SteadyNow() + timeout;
  while (true) {
    absl::StatusOr<std::shared_ptr<SessionPort>> port = connect(TimeLeft(deadline));
    if (!port.ok()) return port.status();
    absl::StatusOr<std::unique_ptr<SessionCore>> core =
        SessionCore::Open(*std::move(port), worker, TimeLeft(deadline), patience);
    if (core.ok() || !absl::IsAborted(core.status())) return core;
    if (TimeLeft(deadline) <= absl::ZeroDuration()) return absl::UnavailableError(core.status().message());
    absl::SleepFor(std::min(kPause, TimeLeft(deadline)));
  }
}

}  // namespace banyan
