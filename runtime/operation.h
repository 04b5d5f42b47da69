// One call of a session under way: what a Ticket waits for. Thread-safe. Shared by the ticket and by the session, which
// ends it.
#ifndef BANYAN_RUNTIME_OPERATION_H_
#define BANYAN_RUNTIME_OPERATION_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/slot_lease.h"

namespace banyan {

class Operation {
 public:
  // `what` says which node and key it concerns; `result` is the caller's memory, which it may use until it is done.
  Operation(std::string what, absl::Span<float> result);

  absl::Span<float> result() const { return result_; }
  void SetRound(uint64_t round);
  uint64_t round() const;
  // "node n1, key fc1.weight, round 5".
  std::string Description() const;

  // Only the first call counts.
  void Finish(absl::Status status);
  // Before Finish, of an operation whose result stays in shared memory: keeps what `lend` gives, which is not called
  // when the operation was abandoned.
  void KeepShared(absl::FunctionRef<SlotLease()> lend);
  // Empty before it is done, and without such a result.
  absl::Span<const float> shared_result() const;
  bool done() const;
  // DEADLINE_EXCEEDED when it is not done after `timeout`.
  absl::Status Wait(absl::Duration timeout);
  // Nobody asks for it any more: waits until the caller's result memory is free, and gives a shared result back.
  void Abandon();

 private:
  std::string DescriptionLocked() const;

  const std::string what_;
  const absl::Span<float> result_;
  mutable std::mutex mutex_;
  std::condition_variable finished_;
  uint64_t round_ = 0;  // guarded by mutex_, as all below
  bool has_round_ = false;
  bool done_ = false;
  bool abandoned_ = false;
  absl::Status status_;
  SlotLease shared_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_OPERATION_H_
