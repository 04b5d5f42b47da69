// The node's side of one worker's training state: learns what it is made of, and moves its chunks between the core and
// the worker through the slots of a segment that both share.
//
// Thread-safe. Owned by the worker's connection, which is its way to the worker.
//
// Invariants:
// - A slot is free, or the worker's from the message that names it until its answer. The node copies before and after.
// - Chunks are read, and written, in the order in which the core asks.
#ifndef BANYAN_RUNTIME_WORKERS_WORKER_STATE_H_
#define BANYAN_RUNTIME_WORKERS_WORKER_STATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "proto/session_messages.h"
#include "proto/state_layout.h"
#include "protocol/state_call.h"
#include "runtime/workers/segment_budget.h"
#include "runtime/workers/tensor_segment.h"
#include "runtime/workers/worker_requests.h"

namespace banyan {

class WorkerState {
 public:
  // In each row: enough for the worker to fill one while the node empties others.
  static constexpr uint32_t kSlots = 8;

  // Brings a reply to the worker. Called with the mutex held, so that replies leave in order; must not come back here.
  using Reply = std::function<void(WorkerReply)>;

  WorkerState(std::shared_ptr<WorkerRequests> requests_of_workers, std::shared_ptr<SegmentBudget> budget, Reply reply);

  // Takes more parts of the state; INVALID_ARGUMENT when they are too many, or not in the order of their names.
  absl::Status Describe(const DescribeState& described);
  // Returns whether parts were described of a state that is not shared yet.
  bool HasNewParts() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return !segment_ && !shape_.parts.empty();
  }
  // Makes the memory. The shape is then complete.
  absl::StatusOr<StateShape> Open();
  // The memory that Open has made, to be passed on once the core knows the state.
  StateOpened Opened(CallId call) const;
  std::shared_ptr<TensorSegment> segment() const;

  // Does what the core asks of this worker.
  void OnTask(const StateTask& task);
  // Takes the worker's answers for the core. An error says that they make no sense.
  absl::Status OnFilled(WorkerId worker, const StateFilled& filled);
  absl::Status OnTaken(WorkerId worker, const StateTaken& taken);
  // Forgets what is under way: the worker has gone.
  void Close();

 private:
  // The mutex is held in all of these.
  void StartReads();
  void StartWrites();
  std::optional<uint32_t> FreeSlot(const std::map<uint32_t, std::optional<ChunkIndex>>& used) const;

  const std::shared_ptr<WorkerRequests> requests_of_workers_;  // shared with all connections and the host
  const std::shared_ptr<SegmentBudget> budget_;                // likewise
  const Reply reply_;

  mutable std::mutex mutex_;  // guards all below; never held while calling the requests
  StateShape shape_;
  size_t name_bytes_ = 0;
  StateLayout layout_;
  std::shared_ptr<TensorSegment> segment_;  // shared with the worker's port within one process
  std::deque<std::optional<ChunkIndex>> reads_;
  std::map<uint32_t, std::optional<ChunkIndex>> reading_;  // by slot; no chunk: the hashes
  std::deque<std::pair<ChunkIndex, Buffer>> writes_;
  std::map<uint32_t, std::optional<ChunkIndex>> writing_;  // by slot
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_WORKER_STATE_H_
