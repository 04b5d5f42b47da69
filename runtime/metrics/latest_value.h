// Hands values from one thread to others, each as a whole: who looks gets the newest and may keep it. Thread-safe.
#ifndef BANYAN_RUNTIME_METRICS_LATEST_VALUE_H_
#define BANYAN_RUNTIME_METRICS_LATEST_VALUE_H_

#include <memory>
#include <mutex>
#include <utility>

namespace banyan {

template <typename T>
class LatestValue {
 public:
  void Set(T value) {
    auto next = std::make_shared<const T>(std::move(value));
    const std::lock_guard<std::mutex> lock(mutex_);
    latest_.swap(next);
  }

  // nullptr before the first. Shared because a reader may look at one while the next takes its place.
  std::shared_ptr<const T> Get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return latest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> latest_;  // guarded by mutex_
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_METRICS_LATEST_VALUE_H_
