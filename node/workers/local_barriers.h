// The barriers of this node's workers: who waits at which, and when the node enters the next one. Thread-compatible;
// owned by WorkerDesk.
//
// Invariants:
// - The node enters a barrier once all workers that it waits for have, and one of them still waits there.
// - A worker's barriers are counted from those that the node had entered before it attached.
#ifndef BANYAN_NODE_WORKERS_LOCAL_BARRIERS_H_
#define BANYAN_NODE_WORKERS_LOCAL_BARRIERS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/ids.h"
#include "node/scheduler_client.h"
#include "node/workers/local_keys.h"

namespace banyan {

class LocalBarriers {
 public:
  // Says for whom the node waits.
  using IsAwaited = absl::FunctionRef<bool(WorkerId)>;

  // `scheduler` outlives this.
  LocalBarriers(size_t workers, SchedulerClient* scheduler) : scheduler_(scheduler), counts_(workers) {}

  void OnAttached(WorkerId worker) { counts_[worker.value()] = entered_; }
  void Enter(const WaitingCall& call, IsAwaited is_awaited);
  // Enters the next one if nobody is waited for any more.
  void Review(IsAwaited is_awaited);
  // Forgets a worker that has gone. Returns its calls that wait.
  std::vector<RequestId> Drop(WorkerId worker);
  // Returns the calls that wait at a barrier that has been released.
  std::vector<WaitingCall> TakeReleased(uint64_t barrier);
  // Returns all calls that wait, by barrier.
  std::map<uint64_t, std::vector<WaitingCall>> TakeAll();

 private:
  SchedulerClient* scheduler_;
  std::map<uint64_t, std::vector<WaitingCall>> waiting_;
  std::vector<uint64_t> counts_;  // of each worker: barriers that it has entered, or that the node had before
  uint64_t entered_ = 0;          // by this node
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_LOCAL_BARRIERS_H_
