#include "runtime/workers/segment_budget.h"

#include <algorithm>
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

int64_t SegmentBudget::OwnBytes(const std::string& what, const TensorSegment::Shape& shape) const {
  const int64_t own = TensorSegment::SizeBytes({shape.elements, 0, 1, SumTypeOf(shape.type)});
  return TensorSegment::SizeBytes(
             {shape.elements, std::min(shape.gradient_slots, 1u), shape.result_slots, shape.type}) +
         (users_.contains(what) ? 0 : own);
}

absl::Status SegmentBudget::Check(const std::string& what, const TensorSegment::Shape& shape) const {
  if (segments_ >= MostSegments()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        what, ": this process shares ", segments_, " pieces of memory, as many as vm.max_map_count (", mapping_limit_,
        ") safely lets it: initialise small tensors together with InitGroup, or raise vm.max_map_count with sysctl"));
  }
  const int64_t size_bytes = TensorSegment::SizeBytes(shape);
  if (used_bytes_ > limit_bytes_ - size_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(what, " needs ", size_bytes,
                                                     " bytes of shared memory, but the node's workers may have ",
                                                     limit_bytes_, " and have ", used_bytes_));
  }
  const int64_t own_bytes = OwnBytes(what, shape);
  if (!memory_.has_value() || own_bytes_ <= memory_->bytes - own_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(what, " does not fit: with it the node needs at least ",
                                                   own_bytes_ + own_bytes, " bytes, and may have ", memory_->bytes,
                                                   " (", memory_->source,
                                                   "); it takes about three times the model, and as much again for "
                                                   "each worker"));
}

absl::Status SegmentBudget::Take(const std::string& what, const TensorSegment::Shape& shape) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Status status = Check(what, shape); !status.ok()) return status;
  used_bytes_ += TensorSegment::SizeBytes(shape);
  own_bytes_ += OwnBytes(what, shape);
  ++segments_;
  ++users_[what];
  return absl::OkStatus();
}

void SegmentBudget::Return(const std::string& what, const TensorSegment::Shape& shape) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto users = users_.find(what);
  if (--users->second == 0) users_.erase(users);
  --segments_;
  used_bytes_ -= TensorSegment::SizeBytes(shape);
  own_bytes_ -= OwnBytes(what, shape);
}

int64_t SegmentBudget::used_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return used_bytes_;
}

std::shared_ptr<TensorSegment> Counted(std::shared_ptr<TensorSegment> segment, const std::string& what,
                                       std::shared_ptr<SegmentBudget> budget) {
  TensorSegment* const raw = segment.get();
  return std::shared_ptr<TensorSegment>(
      raw, [segment = std::move(segment), what, budget = std::move(budget)](TensorSegment*) mutable {
        const TensorSegment::Shape shape = segment->shape();
        segment.reset();
        budget->Return(what, shape);
      });
}

}  // namespace banyan
