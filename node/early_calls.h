// Calls of workers from before their node has joined the job: they wait for that. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - At most kMostEarlyCalls wait; each is answered or handed on once, in order.
#ifndef BANYAN_NODE_EARLY_CALLS_H_
#define BANYAN_NODE_EARLY_CALLS_H_

#include <cstddef>
#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "node/step_context.h"
#include "protocol/worker_call.h"

namespace banyan {

// More workers than any data centre attaches.
inline constexpr size_t kMostEarlyCalls = 1 << 12;

class EarlyCalls {
 public:
  bool has_room() const { return calls_.size() < kMostEarlyCalls; }
  // REQUIRES: has_room().
  void Keep(WorkerCall call) { calls_.push_back(std::move(call)); }
  // Returns all calls, which wait no longer.
  std::deque<WorkerCall> Take() { return std::exchange(calls_, {}); }
  // Answers all calls with `why`.
  void Refuse(StepContext& step, const absl::Status& why);

  // Answers one call, unless it is a WorkerDetach, which nobody waits for.
  static void Refuse(StepContext& step, const WorkerCall& call, const absl::Status& why);

 private:
  std::deque<WorkerCall> calls_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_EARLY_CALLS_H_
