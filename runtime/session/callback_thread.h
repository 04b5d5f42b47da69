// Runs what operations call back, one callback after another, on a thread of its own. A callback may therefore wait for
// what the node's replies bring, and start operations, which may wait for room. Thread-safe; owned by SessionCore and
// shared with operations, which may outlive it.
//
// Invariants:
// - Each callback runs exactly once, in the order of Post, without locks held.
// - There is no thread before the first Post and after Stop.
#ifndef BANYAN_RUNTIME_SESSION_CALLBACK_THREAD_H_
#define BANYAN_RUNTIME_SESSION_CALLBACK_THREAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace banyan {

class CallbackThread {
 public:
  CallbackThread() = default;
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;
  // Stops.
  ~CallbackThread() { Stop(); }

  // Runs `callback` after those posted before. REQUIRES: Stop has not returned.
  void Post(std::function<void()> callback);
  // Returns when all callbacks have run, those that they post included. REQUIRES: no callback calls this. Idempotent.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_, as all below
  bool running_ = false;                       // a callback
  bool stopping_ = false;
  bool started_ = false;  // thread_, which only Stop touches from then on
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_CALLBACK_THREAD_H_
