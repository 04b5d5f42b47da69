#include "runtime/session/callback_thread.h"

#include <utility>

#include "core/check.h"

namespace banyan {

void CallbackThread::Post(std::function<void()> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // Once stopping, only a running callback may still post, so the thread is there.
    BANYAN_CHECK(!stopping_ || running_);
    waiting_.push_back(std::move(callback));
    if (!std::exchange(started_, true)) thread_ = std::thread([this] { Work(); });
  }
  changed_.notify_one();
}

void CallbackThread::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CallbackThread::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> callback = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = true;
    lock.unlock();
    callback();
    callback = nullptr;  // what it holds goes without the lock
    lock.lock();
    running_ = false;
  }
}

}  // namespace banyan
