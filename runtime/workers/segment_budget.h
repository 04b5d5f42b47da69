// Counts the shared memory of all workers against a limit. Thread-safe. Shared by the host and by everything
// that holds such memory, which may outlive it.
#ifndef BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_
#define BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SegmentBudget {
 public:
  explicit SegmentBudget(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // False when it would go over the limit; then nothing is taken.
  bool Take(int64_t size_bytes) {
    if (used_bytes_.fetch_add(size_bytes) <= limit_bytes_ - size_bytes) return true;
    used_bytes_.fetch_sub(size_bytes);
    return false;
  }
  void Return(int64_t size_bytes) { used_bytes_.fetch_sub(size_bytes); }

  int64_t limit_bytes() const { return limit_bytes_; }
  int64_t used_bytes() const { return used_bytes_.load(); }

 private:
  const int64_t limit_bytes_;
  std::atomic<int64_t> used_bytes_ = 0;
};

// Returns the segment with its bytes, which have been taken, going back to the budget when the last user has gone.
inline std::shared_ptr<TensorSegment> Counted(std::shared_ptr<TensorSegment> segment,
                                              std::shared_ptr<SegmentBudget> budget) {
  TensorSegment* const raw = segment.get();
  return std::shared_ptr<TensorSegment>(
      raw, [segment = std::move(segment), budget = std::move(budget)](TensorSegment*) mutable {
        const int64_t size_bytes = segment->size_bytes();
        segment.reset();
        budget->Return(size_bytes);
      });
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_SEGMENT_BUDGET_H_
