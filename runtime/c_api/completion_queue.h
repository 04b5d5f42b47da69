// Ends of operations that wait to be told, with a descriptor that is readable while there are any. Thread-safe; shared
// by a session's handle and its operations.
#ifndef BANYAN_RUNTIME_C_API_COMPLETION_QUEUE_H_
#define BANYAN_RUNTIME_C_API_COMPLETION_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace banyan {

class CompletionQueue {
 public:
  struct End {
    uint64_t tag = 0;
    int code = 0;
  };

  CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;
  ~CompletionQueue();

  // An eventfd; below zero where the system gave none.
  int descriptor() const { return descriptor_; }
  void Add(End end);
  // Says that nothing comes any more.
  void Close();
  // Takes the first ones, at most `capacity`, and waits for the first up to `timeout`. Errors: DEADLINE_EXCEEDED;
  // CANCELLED when it is closed and empty.
  absl::StatusOr<std::vector<End>> Take(size_t capacity, absl::Duration timeout);

 private:
  const int descriptor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<End> ends_;  // guarded by mutex_, as all below
  bool closed_ = false;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_C_API_COMPLETION_QUEUE_H_
