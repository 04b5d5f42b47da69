// Hands events of other threads over to the protocol thread: a queue and an eventfd that the thread polls beside its
// sockets.
//
// Thread-safe. MayWait, Take and ClearWakeup are the protocol thread's. Shared by whoever posts, so that a late event
// of a pool or socket thread finds a queue to be dropped in.
#ifndef BANYAN_RUNTIME_EVENT_QUEUE_H_
#define BANYAN_RUNTIME_EVENT_QUEUE_H_

#include <atomic>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "protocol/event.h"

namespace banyan {

class EventQueue {
 public:
  EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue();

  void Post(Event event);
  // Ends the protocol thread with `status`: the runtime itself cannot go on.
  void Fail(absl::Status status);
  // Async-signal-safe.
  void RequestStop();

  // Readable once something has come since MayWait, which returns whether nothing waits: only a reader that is about to
  // wait is worth a system call.
  int fd() const { return fd_; }
  bool MayWait();
  void ClearWakeup();
  // All that was posted since the last call, in order.
  std::vector<Event> Take();
  bool stop_requested() const { return stop_requested_.load(); }
  // OK while nobody called Fail.
  absl::Status failure() const;

 private:
  void Wake();

  const int fd_;
  std::atomic<bool> stop_requested_ = false;
  mutable std::mutex mutex_;
  std::vector<Event> events_;  // guarded by mutex_
  bool is_awaited_ = false;    // guarded by mutex_
  absl::Status failure_;       // guarded by mutex_
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_EVENT_QUEUE_H_
