// What this node's workers wait for, and which of them others wait for. A view of the keys and barriers of the moment:
// made for one question. Thread-compatible.
#ifndef BANYAN_NODE_WORKERS_LOCAL_WAITS_H_
#define BANYAN_NODE_WORKERS_LOCAL_WAITS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "node/workers/local_barriers.h"
#include "node/workers/local_keys.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// A key's round, or a barrier, that is not over.
struct LocalWait {
  std::string what;               // for the user: "round 5 of key 'w'"
  KeyId key;                      // 0: a barrier
  Round round;                    // or the barrier's number
  Timestamp since;                // the first worker of this node came
  std::vector<WorkerId> missing;  // workers of this node; empty when others are waited for
  bool has_id = true;             // false: the scheduler has not assigned the key
};

class LocalWaits {
 public:
  using IsAwaited = std::function<bool(WorkerId)>;

  // The pointers outlive this. The node waits for workers for which `is_awaited` is true.
  LocalWaits(const LocalKeys* keys, const LocalBarriers* barriers, IsAwaited is_awaited)
      : keys_(keys), barriers_(barriers), is_awaited_(std::move(is_awaited)) {}

  // Returns the oldest open round of the key called `name` in which `worker` takes part; of a barrier, for an empty
  // name. Nothing when there is none.
  std::optional<LocalWait> Find(WorkerId worker, const std::string& name) const;
  // Returns what has waited longest.
  std::optional<LocalWait> Oldest() const;
  // Names the workers for whom others of this node wait: in the round and the barrier that have waited longest.
  std::vector<NodeReport::Missing> Missing() const;

 private:
  // Those of a key, in the order of its rounds; of all workers when there is no `worker`.
  std::optional<LocalWait> OldestOf(const LocalKey& local, std::optional<WorkerId> worker) const;
  std::optional<LocalWait> OldestBarrier(std::optional<WorkerId> worker) const;
  std::vector<WorkerId> MissingInit(const LocalKey& local) const;

  const LocalKeys* keys_;
  const LocalBarriers* barriers_;
  IsAwaited is_awaited_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_LOCAL_WAITS_H_
