#include "runtime/workers/segment_budget.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// Of the mappings, for threads, libraries and large pieces of other memory.
constexpr int64_t kSpareDivisor = 16;

}  // namespace

int64_t SegmentBudget::MostSegments() const {
  if (mapping_limit_ <= 0) return std::numeric_limits<int64_t>::max();
  return mapping_limit_ - mapping_limit_ / kSpareDivisor;
}

absl::Status SegmentBudget::Take(int64_t size_bytes, absl::string_view what) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (segments_ >= MostSegments()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        what, ": this process shares ", segments_, " pieces of memory, as many as vm.max_map_count (", mapping_limit_,
        ") safely lets it: initialise small tensors together with InitGroup, or raise vm.max_map_count with sysctl"));
  }
  if (size_bytes > limit_bytes_ - used_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(what, " needs ", size_bytes,
                                                     " bytes of shared memory, but the node's workers may have ",
                                                     limit_bytes_, " and have ", used_bytes_));
  }
  used_bytes_ += size_bytes;
  ++segments_;
  return absl::OkStatus();
}

void SegmentBudget::Return(int64_t size_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  used_bytes_ -= size_bytes;
  --segments_;
}

int64_t SegmentBudget::used_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return used_bytes_;
}

std::shared_ptr<TensorSegment> Counted(std::shared_ptr<TensorSegment> segment, std::shared_ptr<SegmentBudget> budget) {
  TensorSegment* const raw = segment.get();
  return std::shared_ptr<TensorSegment>(
      raw, [segment = std::move(segment), budget = std::move(budget)](TensorSegment*) mutable {
        const int64_t size_bytes = segment->size_bytes();
        segment.reset();
        budget->Return(size_bytes);
      });
}

}  // namespace banyan
