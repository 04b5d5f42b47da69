// Counts the segments of memory that a process shares, and their bytes, against its limits. Thread-safe. Shared by who
// makes or maps segments and by everything that holds one, which may outlive it.
//
// Invariants:
// - Segments leave a part of the kernel's mappings free: a process that has none left cannot even allocate memory.
#ifndef BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_
#define BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "posix/mapping_limit.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SegmentBudget {
 public:
  // `mapping_limit`: as MappingLimit; 0 for none.
  explicit SegmentBudget(int64_t limit_bytes, int64_t mapping_limit = MappingLimit())
      : limit_bytes_(limit_bytes), mapping_limit_(mapping_limit) {}

  // Takes what `what` needs; RESOURCE_EXHAUSTED says which limit leaves no room for it, and then nothing is taken.
  absl::Status Take(int64_t size_bytes, absl::string_view what);
  void Return(int64_t size_bytes);

  int64_t used_bytes() const;

 private:
  // Returns how many segments there may be.
  int64_t MostSegments() const;

  const int64_t limit_bytes_;
  const int64_t mapping_limit_;
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;  // guarded by mutex_
  int64_t segments_ = 0;    // guarded by mutex_
};

// Returns the segment with its bytes, which have been taken, going back to the budget when the last user has gone.
std::shared_ptr<TensorSegment> Counted(std::shared_ptr<TensorSegment> segment, std::shared_ptr<SegmentBudget> budget);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_
