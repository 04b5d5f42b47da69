// One call of a session under way: what a Ticket waits for. Thread-safe. Shared by the ticket and by the session, which
// ends it.
//
// Invariants:
// - It ends once; only the first Finish counts.
// - The caller's result memory is not touched once Abandon has returned, unless a callback is to come: then until that.
// - Its callback runs once, after the end is visible to all, whether or not a ticket is still there.
// - A forked child finds its copy done, with FAILED_PRECONDITION and no result, and never waits for it.
#ifndef BANYAN_RUNTIME_SESSION_OPERATION_H_
#define BANYAN_RUNTIME_SESSION_OPERATION_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/tensor_view.h"
#include "core/time.h"
#include "posix/home_process.h"
#include "runtime/session/slot_lease.h"

namespace banyan {

class Operation {
 public:
  using Callback = std::function<void(const absl::Status& status)>;

  // Makes an operation on `what`, a node and a key, which its errors then name. It may use `result`, the caller's
  // memory, until it is done. The thread that ends it then runs `on_done`, if there is one, without locks held.
  Operation(std::string what, TensorView result, Callback on_done = {});

  TensorView result() const { return result_; }
  void SetRound(uint64_t round);
  uint64_t round() const;
  // The step whose state a fetch has brought.
  void SetStep(uint64_t step);
  uint64_t step() const;
  // Gives "node n1, key fc1.weight, round 5".
  std::string Description() const;

  // Ends the operation; an error is given its description. Only the first call counts.
  void Finish(absl::Status status);
  // Keeps the result that `lend` gives in shared memory, unless the operation was abandoned. REQUIRES: not finished.
  void KeepShared(absl::FunctionRef<SlotLease()> lend);
  // Returns the result in shared memory; empty before the operation is done, and without such a result.
  ConstTensorView shared_result() const;
  bool done() const;
  // Returns whether the caller runs in the process that made it, and in no forked child: a child must not destroy it.
  bool IsHere() const { return process_.IsHere(); }
  // Has `ask` run by threads in Wait, without locks held, some time before their time-out, so that SetWait may come.
  // REQUIRES: nobody waits yet.
  void AskBeforeTimeout(std::function<void()> ask);
  // Notes for whom the operation waits, for the errors of time-outs.
  void SetWait(std::string wait);
  // Waits for the end and returns its status; DEADLINE_EXCEEDED when it is not done after `timeout`.
  absl::Status Wait(absl::Duration timeout);
  // Runs `use`, which writes into the caller's result memory, unless that was given up.
  void UseResult(absl::FunctionRef<void()> use);
  // Gives a shared result back, as nobody asks for it any more, and the caller's result memory up, unless a callback is
  // to tell that the result is there. Waits for no more than a UseResult.
  void Abandon();

 private:
  std::string DescriptionLocked() const;
  bool WaitUntil(std::unique_lock<std::mutex>& lock, Timestamp deadline);

  const HomeProcess process_;
  const std::string what_;
  const TensorView result_;
  mutable std::mutex mutex_;
  std::condition_variable finished_;
  uint64_t round_ = 0;  // guarded by mutex_, as all below
  bool has_round_ = false;
  uint64_t step_ = 0;
  bool done_ = false;
  bool abandoned_ = false;
  absl::Status status_;
  std::function<void()> ask_;
  std::string wait_;
  Callback on_done_;
  SlotLease shared_;
  std::mutex result_mutex_;  // held while the caller's result memory is used
  bool has_result_ = true;   // guarded by result_mutex_
};

// Runs what operations call back, one callback after another, on a thread of its own. A callback may therefore wait for
// what the node's replies bring, and start operations, which may wait for room. Thread-safe; owned by SessionCore and
// shared with operations, which may outlive it.
//
// Invariants:
// - Each callback runs exactly once, in the order of Post, without locks held.
// - There is no thread before the first Post and after Stop.
class CallbackThread {
 public:
  CallbackThread() = default;
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;
  // Stops.
  ~CallbackThread() { Stop(); }

  // Runs `callback` after those posted before. REQUIRES: Stop has not returned.
  void Post(std::function<void()> callback);
  // Returns when all callbacks have run, those that they post included. REQUIRES: no callback calls this. Idempotent.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_, as all below
  bool running_ = false;                       // a callback
  bool stopping_ = false;
  bool started_ = false;  // thread_, which only Stop touches from then on
  std::thread thread_;
};

// Asks the node for whom an operation waits, while the session is open. Thread-safe. Shared by a session and its
// operations, which may outlive it.
class WaitAsker {
 public:
  // Asks about this worker's calls of a key, none for an empty name, because of one in `round`. `done` takes the
  // answer, on any thread.
  using Ask =
      std::function<void(const std::string& key, uint64_t round, std::function<void(const absl::Status&)> done)>;

  explicit WaitAsker(Ask ask) : ask_(std::move(ask)) {}

  // Lets an operation of the key ask when somebody's time-out for it is near.
  static void Serve(const std::shared_ptr<WaitAsker>& asker, const std::shared_ptr<Operation>& operation,
                    std::string key);
  // Nothing is asked any more when it returns.
  void Close();

 private:
  void AskFor(const std::weak_ptr<Operation>& operation, const std::string& key);

  std::mutex mutex_;
  Ask ask_;  // guarded by mutex_; null once closed
};

// Makes a session's operations: names them for their errors, runs their callbacks on a thread of the session, and lets
// their time-outs say for whom they wait. Thread-safe but for set_node_name, which comes first.
class OperationMaker {
 public:
  explicit OperationMaker(WaitAsker::Ask ask) : asker_(std::make_shared<WaitAsker>(std::move(ask))) {}

  void set_node_name(std::string name) { node_name_ = std::move(name); }
  const std::string& node_name() const { return node_name_; }
  // That of the session.
  const HomeProcess& process() const { return process_; }

  // Makes an operation on `what` whose waits are those of `key`; empty when it concerns none.
  std::shared_ptr<Operation> Make(absl::string_view what, TensorView result = {}, Operation::Callback on_done = {},
                                  const std::string& key = "") const;
  std::shared_ptr<Operation> MakeForKey(absl::string_view key, TensorView result = {},
                                        Operation::Callback on_done = {}) const;
  // Lets an operation made elsewhere ask for whom it waits.
  void LetAsk(const std::shared_ptr<Operation>& operation) const { WaitAsker::Serve(asker_, operation, ""); }

  // Nothing is asked any more when it returns.
  void StopAsking() { asker_->Close(); }
  // Returns when the last callback has run. REQUIRES: no callback calls this. Idempotent.
  void StopCallbacks() { callbacks_->Stop(); }

 private:
  const HomeProcess process_;
  std::string node_name_;
  const std::shared_ptr<CallbackThread> callbacks_ = std::make_shared<CallbackThread>();  // shared with operations
  const std::shared_ptr<WaitAsker> asker_;                                                // likewise
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_OPERATION_H_
