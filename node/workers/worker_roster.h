// Which of the node's workers are there, are still to come, and have gone. Thread-compatible; owned by LocalWorkers.
//
// Invariants:
// - A worker that has left cleanly never comes back; one that has died may.
#ifndef BANYAN_NODE_WORKERS_WORKER_ROSTER_H_
#define BANYAN_NODE_WORKERS_WORKER_ROSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"

namespace banyan {

class WorkerRoster {
 public:
  // `workers`: the node's number of them, 1 or more.
  explicit WorkerRoster(uint32_t workers) : states_(workers) {}

  // INVALID_ARGUMENT for a worker that the node does not have, ALREADY_EXISTS for one that is attached, UNAVAILABLE for
  // one that has left.
  absl::Status Attach(WorkerId worker);
  // REQUIRES: it is attached.
  void Detach(WorkerId worker, bool is_clean);

  uint32_t size() const { return static_cast<uint32_t>(states_.size()); }
  bool Contains(WorkerId worker) const { return worker.value() < states_.size(); }
  bool IsAttached(WorkerId worker) const { return Contains(worker) && Is(worker, State::kAttached); }
  // It takes part, or may still come for the first time. REQUIRES: Contains(worker).
  bool IsAwaited(WorkerId worker) const { return Is(worker, State::kAbsent) || Is(worker, State::kAttached); }
  bool HasAwaited() const { return Count(State::kAbsent) + Count(State::kAttached) > 0; }
  uint32_t attached() const { return Count(State::kAttached); }
  bool HasAbsent() const { return Count(State::kAbsent) > 0; }
  bool HasDead() const { return Count(State::kDead) > 0; }

 private:
  enum class State : uint8_t { kAbsent, kAttached, kDone, kDead };

  bool Is(WorkerId worker, State state) const { return states_[worker.value()] == state; }
  uint32_t Count(State state) const;
  // The first workers that may attach, with commas between them.
  std::string FreeWorkers() const;

  std::vector<State> states_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_WORKER_ROSTER_H_
