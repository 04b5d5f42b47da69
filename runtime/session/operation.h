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
#include <functional>
#include <mutex>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
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

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_OPERATION_H_
