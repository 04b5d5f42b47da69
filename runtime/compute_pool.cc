#include "runtime/compute_pool.h"

#include <chrono>
#include <new>
#include <utility>

#include "core/check.h"
#include "posix/process_limits.h"
#include "protocol/event.h"
#include "runtime/event_queue.h"

namespace banyan {

absl::Duration ComputePool::TimeOf(Computation& computation) {
  const auto begun = std::chrono::steady_clock::now();
  computation.Run();
  return absl::FromChrono(std::chrono::steady_clock::now() - begun);
}

ComputePool::ComputePool(int threads) {
  BANYAN_CHECK(threads > 0);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

ComputePool::~ComputePool() { Stop(); }

void ComputePool::Submit(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void ComputePool::Compute(ComputationId id, std::unique_ptr<Computation> computation,
                          std::shared_ptr<EventQueue> queue) {
  // Shared only because std::function copies what it holds.
  auto shared = std::make_shared<std::unique_ptr<Computation>>(std::move(computation));
  Submit([id, shared = std::move(shared), queue = std::move(queue)] {
    try {
      const absl::Duration time = TimeOf(**shared);
      queue->Post(ComputationFinished{id, std::move(*shared), time});
    } catch (const std::bad_alloc&) {
      queue->Fail(OutOfMemory());
    }
  });
}

void ComputePool::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  changed_.notify_all();
  dropped.clear();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ComputePool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before the next wait, and not under the lock
    lock.lock();
  }
}

}  // namespace banyan
