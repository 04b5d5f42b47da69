#include "runtime/session/slot_lease.h"

#include <mutex>
#include <utility>

namespace banyan {

SlotLease::SlotLease(std::shared_ptr<SessionKeys> keys, std::string key, std::shared_ptr<TensorSegment> segment,
                     Row row, uint32_t slot)
    : keys_(std::move(keys)), key_(std::move(key)), segment_(std::move(segment)), row_(row), slot_(slot) {}

SlotLease& SlotLease::operator=(SlotLease&& other) noexcept {
  if (this == &other) return *this;
  GiveBack();
  keys_ = std::move(other.keys_);
  key_ = std::move(other.key_);
  segment_ = std::move(other.segment_);
  row_ = other.row_;
  slot_ = other.slot_;
  return *this;
}

TensorView SlotLease::values() const {
  if (!keys_ || !keys_->process.IsHere()) return {};
  return row_ == Row::kGradients ? segment_->gradient(slot_) : segment_->result(slot_);
}

void SlotLease::GiveBack() {
  if (!keys_) return;
  if (!keys_->process.IsHere()) {
    // The slot is the parent's, and what guards it may be locked here for ever.
    new std::shared_ptr<SessionKeys>(std::move(keys_));
    return;
  }
  {
    std::lock_guard<std::mutex> lock(keys_->mutex);
    SessionKey& key = keys_->named.at(key_);
    row_ == Row::kGradients ? key.GiveBackGradient(slot_) : key.GiveBackResult(slot_);
  }
  keys_->changed.notify_all();
  keys_.reset();
}

}  // namespace banyan
