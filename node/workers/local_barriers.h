// The barriers in which this node's workers wait. Each worker counts its own, and the node enters one when all that it
// waits for have. Thread-compatible; owned by LocalWorkers.
#ifndef BANYAN_NODE_WORKERS_LOCAL_BARRIERS_H_
#define BANYAN_NODE_WORKERS_LOCAL_BARRIERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/workers/local_keys.h"

namespace banyan {

class LocalBarriers {
 public:
  using IsAwaited = absl::FunctionRef<bool(WorkerId)>;
  struct Waiting {
    Timestamp since;  // its first worker came
    std::vector<WaitingCall> calls;
  };

  explicit LocalBarriers(uint32_t workers) : counts_(workers) {}

  // The worker begins with the barrier that this node enters next.
  void OnAttached(WorkerId worker) { counts_[worker.value()] = entered_; }
  // The node enters barriers without the worker, which fetches the training state of others: they would not come to the
  // boundary at which it gets it.
  void OnFetching(WorkerId worker) { fetching_.insert(worker); }
  // The worker begins with the barrier that this node enters next, unless it has entered that.
  void OnFetched(WorkerId worker);
  void Enter(Timestamp now, const WaitingCall& call);
  // Returns the barrier that the node enters now, if somebody waits in it and all that are awaited have come.
  std::optional<uint64_t> TakeEntered(IsAwaited is_awaited);
  // Returns the calls that wait in a barrier that is released, and forgets them.
  std::vector<WaitingCall> TakeReleased(uint64_t barrier);
  // Forgets a worker's calls, and returns their requests.
  std::vector<RequestId> Drop(WorkerId worker);
  // Returns all that wait, and forgets them.
  std::map<uint64_t, Waiting> TakeAll();

  // In order of barriers.
  const std::map<uint64_t, Waiting>& waiting() const { return waiting_; }
  // Returns the workers without whom the node does not enter the barrier.
  std::vector<WorkerId> Missing(uint64_t barrier, IsAwaited is_awaited) const;

 private:
  std::vector<uint64_t>
      counts_;            // by worker: the barriers that it has entered, or that the node had before it attached
  uint64_t entered_ = 0;  // by this node
  std::set<WorkerId> fetching_;
  std::map<uint64_t, Waiting> waiting_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_LOCAL_BARRIERS_H_
