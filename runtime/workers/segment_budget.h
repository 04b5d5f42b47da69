// Counts the memory that workers' tensors cost against limits: all that is shared with them against one of the host's
// own, and what the node itself surely needs beside it against what this process may have. So a model that cannot fit
// is refused before the first byte of it is written. Counts its pieces as well, of which a process may map only so
// many. Thread-safe. Shared by who makes or maps segments and by everything that holds one, which may outlive it.
//
// Invariants:
// - Segments leave a part of the kernel's mappings free: a process that has none left cannot even allocate memory.
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
#include "posix/process_limits.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SegmentBudget {
 public:
  // `mapping_limit`: as MappingLimit; 0 for none.
  explicit SegmentBudget(int64_t limit_bytes, std::optional<MemoryLimit> memory = std::nullopt,
                         int64_t mapping_limit = MappingLimit())
      : limit_bytes_(limit_bytes), memory_(std::move(memory)), mapping_limit_(mapping_limit) {}

  // Takes what a segment for `what` ("key w") needs. RESOURCE_EXHAUSTED names the limit that leaves no room for it, and
  // then nothing is taken.
  absl::Status Take(const std::string& what, const TensorSegment::Shape& shape);
  void Return(const std::string& what, const TensorSegment::Shape& shape);

  int64_t used_bytes() const;

 private:
  // Returns how many segments there may be.
  int64_t MostSegments() const;
  // What the node surely has of one more such segment: what a worker pushes, results where it reads them, and for the
  // first of them the result as it came. The mutex is held.
  int64_t OwnBytes(const std::string& what, const TensorSegment::Shape& shape) const;
  // Says which limit leaves no room for a segment; the mutex is held.
  absl::Status Check(const std::string& what, const TensorSegment::Shape& shape) const;

  const int64_t limit_bytes_;
  const std::optional<MemoryLimit> memory_;
  const int64_t mapping_limit_;
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;  // guarded by mutex_, as all below
  int64_t own_bytes_ = 0;
  int64_t segments_ = 0;
  std::map<std::string, int> users_;  // of the same tensor, by what it is
};

// Returns the segment with its bytes, which have been taken for `what`, going back to the budget when the last user has
// gone.
std::shared_ptr<TensorSegment> Counted(std::shared_ptr<TensorSegment> segment, const std::string& what,
                                       std::shared_ptr<SegmentBudget> budget);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_
