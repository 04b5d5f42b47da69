// A fixed number of threads for work on buffers: the cores' computations and copies into workers' memory.
//
// Thread-safe. Tasks start in the order in which they were given. The destructor waits for running tasks and drops
// those that have not started.
#ifndef BANYAN_RUNTIME_COMPUTE_POOL_H_
#define BANYAN_RUNTIME_COMPUTE_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "protocol/computation.h"

namespace banyan {

class EventQueue;

class ComputePool {
 public:
  // Work on so many bytes at most costs less than to have another thread do it, whose processor has none of them in its
  // caches: a node does it where it comes up. Chunks of 256 KiB are added in less than a tenth of a millisecond.
  static constexpr int64_t kBriefBytes = int64_t{1} << 20;

  // REQUIRES: threads > 0.
  explicit ComputePool(int threads);
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;
  ~ComputePool();

  void Submit(std::function<void()> task);
  // Runs `computation` and posts ComputationFinished with it to `queue`.
  void Compute(ComputationId id, std::unique_ptr<Computation> computation, std::shared_ptr<EventQueue> queue);
  // Runs `computation` on this thread, and returns how long that took.
  static absl::Duration TimeOf(Computation& computation);
  // Idempotent; what is submitted afterwards is dropped.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_COMPUTE_POOL_H_
