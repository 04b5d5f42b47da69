// Starts a session's operations over a port, and ends them as the node's replies come in.
//
// Thread-safe. Callers' threads copy gradients into shared memory; the port's thread copies results out; a thread of
// the session's own runs callbacks.
//
// Invariants:
// - The session makes no calls of its own: replies say when a round is over and when the job has ended.
// - Every operation ends, at the latest with Close.
// - No callback and no call of the port runs under the mutex.
// - In a forked child every call ends with FAILED_PRECONDITION, without a look at anything that the parent's threads
//   may have locked. A child must not destroy this.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_CORE_H_
#define BANYAN_RUNTIME_SESSION_SESSION_CORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "core/tensor_view.h"
#include "proto/job_config.h"
#include "proto/session_messages.h"
#include "runtime/session/operation.h"
#include "runtime/session/session_groups.h"
#include "runtime/session/session_key.h"
#include "runtime/session/session_port.h"
#include "runtime/session/session_state.h"
#include "runtime/session/slot_lease.h"

namespace banyan {

// How long the calls of a session wait.
struct SessionPatience {
  absl::Duration answer = absl::Seconds(30);       // for what depends on the node alone
  absl::Duration room = absl::InfiniteDuration();  // for room to start a call, which depends on other workers
};

class SessionCore {
 public:
  using OperationPtr = std::shared_ptr<Operation>;  // shared by the caller's ticket and this
  // How a call is to be carried out.
  struct Settings {
    int32_t priority = 0;
    // Runs on the session's callback thread when the operation is done.
    Operation::Callback on_done = {};
  };

  // Attaches the worker. DEADLINE_EXCEEDED when the node has not answered after `timeout`; ABORTED when the connection
  // ended before, so that another one may be tried.
  static absl::StatusOr<std::unique_ptr<SessionCore>> Open(std::shared_ptr<SessionPort> port, WorkerId worker,
                                                           absl::Duration timeout, SessionPatience patience = {});
  SessionCore(std::shared_ptr<SessionPort> port, SessionPatience patience);
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;
  // Closes.
  ~SessionCore();

  OperationPtr Init(absl::string_view name, ConstTensorView values, TensorView agreed, Settings settings);
  // Starts an operation of another kind than kInit, of a key or a tensor in a group. A view that the kind does not have
  // is empty.
  OperationPtr Start(TensorCallKind kind, absl::string_view name, ConstTensorView gradient, TensorView result,
                     Settings settings);
  // Lends a gradient slot to the caller, once one is free. FAILED_PRECONDITION when the worker has them all.
  absl::StatusOr<SlotLease> LendGradient(absl::string_view name);
  // Starts an operation without copies: takes `gradient`, unless the call ends with an error at once, and leaves the
  // result with the operation. `gradient` is null where the kind has none.
  OperationPtr StartShared(TensorCallKind kind, absl::string_view name, SlotLease* gradient, Settings settings);
  OperationPtr Barrier(Settings settings) {
    OperationPtr operation = make_.Make("barrier", {}, std::move(settings.on_done));
    StartPlainCall(operation, /*prompt=*/false, [](CallId id) { return BarrierCall{id}; });
    return operation;
  }
  // Starts a report that has everything but its call.
  OperationPtr ReportLoss(const ReportLossCall& report, Settings settings) {
    OperationPtr operation = make_.Make("loss report", {}, std::move(settings.on_done));
    StartPlainCall(operation, /*prompt=*/true, [&report](CallId id) {
      ReportLossCall call = report;
      call.call = id;
      return call;
    });
    return operation;
  }
  // Says good-bye and ends what still runs with CANCELLED, and all that is started from here on. Idempotent.
  void SayGoodBye() { End(/*in_order=*/true); }
  // The same without a good-bye, as a process ends that dies: its node waits for another worker.
  void Abandon() { End(/*in_order=*/false); }
  // Says good-bye, and returns when the last callback has run. REQUIRES: no callback calls this, and no other thread is
  // in a call. Idempotent.
  void Close();

  // Returns whether the caller runs in the process that opened the session, and in no forked child.
  bool IsHere() const { return keys_->process.IsHere(); }
  const std::string& node_name() const { return make_.node_name(); }
  // Known once the session is attached.
  const JobTraits& job() const { return job_; }
  WorkerId worker() const { return worker_; }
  // Returns the members of a later epoch than `after`, as Session::Members.
  absl::StatusOr<MembersChanged> Members(uint64_t after, absl::Duration timeout);
  // The worker's training state.
  SessionState& state() { return state_; }
  SessionGroups& groups() { return groups_; }

 private:
  void End(bool in_order);

  enum class CallType { kAttach, kOpen, kTensor, kPlain };
  struct Call {
    CallType type = CallType::kPlain;
    OperationPtr operation;
    std::string name = {};  // of the key
    TensorCallKind kind = TensorCallKind::kPull;
    SessionKey::Slots slots = {};
    bool prompt = false;  // the node answers without waiting for anyone
    // Who has the result in shared memory then, with the operation; nobody, when it is copied.
    SessionKey::Holder keeper = SessionKey::Holder::kNobody;
  };
  // Writes a gradient into a slot, and returns how many of its values are not finite: node and job are told.
  using SlotFill = std::function<int64_t(TensorView slot)>;
  struct TensorUse {
    TensorCallKind kind = TensorCallKind::kPull;
    SlotFill fill = {};
    SlotLease* lent = nullptr;  // or the slot, filled
    SessionKey::Holder keeper = SessionKey::Holder::kNobody;
    int32_t priority = 0;
  };
  using Lock = std::unique_lock<std::mutex>;
  // Takes the slots of a call; nothing while it must wait.
  using TakeSlots = absl::FunctionRef<std::optional<SessionKey::Slots>(SessionKey&)>;

  // Says for whom a call of the key waits in `round`: for this worker itself, or for whom the node says.
  void AskWait(const std::string& key, uint64_t round, Operation::Callback done);
  CallId Register(Call call);  // the mutex is held
  // Why no call can start: the session's failure, or that as many wait as may. The mutex is held.
  absl::Status CheckStart() const;
  void Send(CallId id, const WorkerMessage& message);

  absl::Status AddKey(const std::string& name, int64_t elements, DataType type);
  absl::Status OpenMemory(const std::string& name, const TensorLayout& layout);
  absl::Status CheckUse(TensorCallKind kind, const std::string& name, ConstTensorView gradient, TensorView result);
  absl::Status CheckShared(const std::string& name, const TensorUse& use);
  absl::StatusOr<SessionGroup::Room> Lend(const std::string& name);
  // Waits until `take`, which needs a slot of these kinds, gives slots: for a free one, or the end of a round where as
  // many as may are open. The lock is released while this waits or asks. Errors: the session's failure and the key's;
  // DEADLINE_EXCEEDED when the patience is over; FAILED_PRECONDITION where nothing that the node does makes room.
  absl::StatusOr<SessionKey::Slots> Reserve(Lock& lock, const std::string& name, bool gradient, bool result,
                                            TakeSlots take);
  // Starts a call that concerns no key, with the message that `make` gives for its id.
  void StartPlainCall(const OperationPtr& operation, bool prompt, absl::FunctionRef<WorkerMessage(CallId)> make);
  void StartTensorCall(OperationPtr operation, const std::string& name, const TensorUse& use);
  SlotLease LendResult(const Call& call);  // the mutex is held

  void OnReply(WorkerReply reply, std::shared_ptr<TensorSegment> segment);
  void On(const WorkerAttached& attached);
  void On(const CallCompleted& completed);
  void On(const SlotFreed& freed);
  void On(const RoundCompleted& completed);
  void On(const JobEnded& ended);
  void On(const WorkerMessageRejected& rejected);
  void On(const MembersChanged& changed);
  // What the node asks of the training state.
  template <typename StateMessage>
  void On(const StateMessage& message) {
    state_.On(message);
  }
  void OnOpened(const StateOpened& opened, std::shared_ptr<TensorSegment> segment);
  void OnOpened(const TensorOpened& opened, std::shared_ptr<TensorSegment> segment);
  void Answered(const Call& call, const CallCompleted& completed);  // the mutex is held
  void ChangeKey(TensorId tensor, absl::FunctionRef<void(SessionKey&)> change);
  // Names the key of a tensor call under way; empty when there is none.
  std::string BusyKey() const;
  SessionState::Session LendToState();
  SessionGroups::Session LendToGroups();
  // Ends every later call with `reason`, and rounds of groups that are not full. Returns what calls end with.
  absl::Status NoteFailure(const absl::Status& reason);
  // Ends every waiting and every later call, as the node has gone.
  void FailAll(const absl::Status& reason);
  // `may_try_again` is for an attach: on another connection.
  void EndCalls(const absl::Status& status, bool may_try_again);

  const std::shared_ptr<SessionPort> port_;  // shared with whoever made it
  const SessionPatience patience_;

  const std::shared_ptr<SessionKeys> keys_ = std::make_shared<SessionKeys>();  // shared with leases on their slots

  OperationMaker make_{[this](const std::string& key, uint64_t round, Operation::Callback done) {
    AskWait(key, round, std::move(done));
  }};

  SessionState state_{LendToState()};
  SessionGroups groups_{&make_, LendToGroups()};
  std::mutex opening_;  // held while a group is named and opened; before keys_->mutex

  // Guarded by keys_->mutex, as all below.
  uint32_t rounds_in_flight_ = 1;
  JobTraits job_;                   // not written once attached
  WorkerId worker_;                 // likewise
  MembersChanged members_;          // epoch 0: not known yet
  MembersChanged growing_members_;  // as far as they have come
  CallId next_call_ = CallId(1);
  std::map<CallId, Call> calls_;
  std::map<TensorId, std::string> tensors_;
  std::map<std::string, CallId> late_opens_;  // by key: of whom nobody waits for its memory any more
  absl::Status failure_;  // of the node or the job, or CANCELLED once closed: every later call ends with it
  bool closed_ = false;
};

// Attaches the worker on one port after the other, which `connect` makes in at most the time it is given, until the
// node has answered or for `timeout`: a node that goes away may be about to join again. Errors are SessionCore::Open's,
// or UNAVAILABLE instead of ABORTED.
absl::StatusOr<std::unique_ptr<SessionCore>> OpenSessionCore(
    absl::FunctionRef<absl::StatusOr<std::shared_ptr<SessionPort>>(absl::Duration timeout)> connect, WorkerId worker,
    absl::Duration timeout, SessionPatience patience = {});

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_CORE_H_
