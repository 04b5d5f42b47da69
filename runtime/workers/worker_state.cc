#include "runtime/workers/worker_state.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

constexpr char kWhat[] = "the training state";

}  // namespace

WorkerState::WorkerState(std::shared_ptr<WorkerRequests> requests_of_workers, std::shared_ptr<SegmentBudget> budget,
                         Reply reply)
    : requests_of_workers_(std::move(requests_of_workers)), budget_(std::move(budget)), reply_(std::move(reply)) {}

absl::Status WorkerState::Describe(const DescribeState& described) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (segment_) return absl::FailedPreconditionError("the state has been shared before");
  for (const StateShape::Part& part : described.parts) {
    name_bytes_ += part.name.size();
    if (shape_.parts.size() >= kMaxStateParts || name_bytes_ > kMaxStateNameBytes) {
      return absl::ResourceExhaustedError(absl::StrCat("expected at most ", kMaxStateParts, " parts, with names of ",
                                                       kMaxStateNameBytes, " bytes together"));
    }
    if (!shape_.parts.empty() && part.name <= shape_.parts.back().name) {
      return absl::InvalidArgumentError(absl::StrCat("expected parts in the order of their names, got '", part.name,
                                                     "' after '", shape_.parts.back().name, "'"));
    }
    if (part.size_bytes > StateLayout::kMostBytes - shape_.total_bytes()) {
      return absl::ResourceExhaustedError(absl::StrCat("expected at most ", StateLayout::kMostBytes, " bytes"));
    }
    shape_.parts.push_back(part);
  }
  return absl::OkStatus();
}

absl::StatusOr<StateShape> WorkerState::Open() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (segment_) return absl::FailedPreconditionError("the state has been shared before");
  layout_ = StateLayout(shape_.total_bytes());
  const TensorSegment::Shape shape{layout_.slot_bytes(), kSlots, kSlots, DataType::kByte};
  if (absl::Status taken = budget_->Take(kWhat, shape); !taken.ok()) return taken;
  absl::StatusOr<std::shared_ptr<TensorSegment>> segment = TensorSegment::Create(shape);
  if (!segment.ok()) {
    budget_->Return(kWhat, shape);
    return segment.status();
  }
  segment_ = Counted(*std::move(segment), kWhat, budget_);
  return shape_;
}

StateOpened WorkerState::Opened(CallId call) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {call, layout_.slot_bytes(), kSlots};
}

std::shared_ptr<TensorSegment> WorkerState::segment() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return segment_;
}

// ---- the core asks ----

void WorkerState::OnTask(const StateTask& task) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto* hold = std::get_if<HoldWorkers>(&task)) return reply_(HoldAtBoundary{hold->is_held});
  if (!segment_) return;  // it shares nothing, and the core knows
  if (const auto* read = std::get_if<ReadState>(&task)) {
    reads_.push_back(read->chunk);
    return StartReads();
  }
  const auto& write = std::get<WriteState>(task);
  writes_.emplace_back(write.chunk, write.bytes);
  StartWrites();
}

std::optional<uint32_t> WorkerState::FreeSlot(const std::map<uint32_t, std::optional<ChunkIndex>>& used) const {
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    if (used.count(slot) == 0) return slot;
  }
  return std::nullopt;
}

void WorkerState::StartReads() {
  while (!reads_.empty()) {
    const std::optional<uint32_t> slot = FreeSlot(reading_);
    if (!slot.has_value()) return;
    const std::optional<ChunkIndex> chunk = reads_.front();
    reads_.pop_front();
    reading_[*slot] = chunk;
    if (chunk.has_value()) {
      reply_(StateRead{*slot, *chunk});
    } else {
      reply_(StateHashesRead{*slot});
    }
  }
}

void WorkerState::StartWrites() {
  while (!writes_.empty()) {
    const std::optional<uint32_t> slot = FreeSlot(writing_);
    if (!slot.has_value()) return;
    const auto [chunk, bytes] = std::move(writes_.front());
    writes_.pop_front();
    const absl::Span<uint8_t> room = segment_->result(*slot).bytes();
    std::memcpy(room.data(), bytes.data(), std::min<size_t>(bytes.size_bytes(), room.size()));
    writing_[*slot] = chunk;
    reply_(StateWrite{*slot, chunk});
  }
}

// ---- the worker answers ----

absl::Status WorkerState::OnFilled(WorkerId worker, const StateFilled& filled) {
  WorkerStateRead read{worker, std::nullopt, Buffer()};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto reading = reading_.find(filled.slot);
    if (reading == reading_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("slot ", filled.slot, " of the state was not to be filled"));
    }
    read.chunk = reading->second;
    const int64_t size_bytes = read.chunk.has_value() ? layout_.SizeOf(*read.chunk) : layout_.hash_bytes();
    const absl::Span<const uint8_t> slot = segment_->gradient(filled.slot).bytes();
    if (filled.is_filled) read.bytes = Buffer::CopyOfBytes(slot.subspan(0, size_bytes));
    reading_.erase(reading);
    StartReads();
  }
  requests_of_workers_->PostState(std::move(read));
  return absl::OkStatus();
}

absl::Status WorkerState::OnTaken(WorkerId worker, const StateTaken& taken) {
  WorkerStateWritten written{worker, ChunkIndex(), taken.is_taken};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto writing = writing_.find(taken.slot);
    if (writing == writing_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("slot ", taken.slot, " of the state was not to be taken"));
    }
    written.chunk = *writing->second;
    writing_.erase(writing);
    StartWrites();
  }
  requests_of_workers_->PostState(written);
  return absl::OkStatus();
}

void WorkerState::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  reads_.clear();
  writes_.clear();
  reading_.clear();
  writing_.clear();
  segment_.reset();
}

}  // namespace banyan
