// Counts the memory that workers' tensors cost against limits: all that is shared with them against one of the host's
// own, and what the node itself surely needs beside it against what this process may have. So a model that cannot fit
// is refused before the first byte of it is written. Thread-safe. Shared by the host and by everything that holds such
// memory, which may outlive it.
#ifndef BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_
#define BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "posix/memory_limit.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SegmentBudget {
 public:
  explicit SegmentBudget(int64_t limit_bytes, std::optional<MemoryLimit> memory = std::nullopt)
      : limit_bytes_(limit_bytes), memory_(std::move(memory)) {}

  // Takes what a segment for `what` ("key w") needs. RESOURCE_EXHAUSTED, and nothing is taken, when it would go over a
  // limit.
  absl::Status Take(const std::string& what, const TensorSegment::Shape& shape);
  void Return(const std::string& what, const TensorSegment::Shape& shape);

  int64_t used_bytes() const;

 private:
  // What the node surely has of one more such segment: results where a worker reads them, and for the first of them the
  // result as it came. The mutex is held.
  int64_t OwnBytes(const std::string& what, const TensorSegment::Shape& shape) const;

  const int64_t limit_bytes_;
  const std::optional<MemoryLimit> memory_;
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;  // guarded by mutex_, as all below
  int64_t own_bytes_ = 0;
  std::map<std::string, int> users_;  // of the same tensor, by what it is
};

// Returns the segment with its bytes, which have been taken for `what`, going back to the budget when the last user has
// gone.
std::shared_ptr<TensorSegment> Counted(std::shared_ptr<TensorSegment> segment, const std::string& what,
                                       std::shared_ptr<SegmentBudget> budget);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_
