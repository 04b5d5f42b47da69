// One slot of a key's shared memory in the worker's hands: a gradient until it is pushed, a result until nobody reads
// it any more. Movable; thread-compatible; may outlive the session. A forked child has a lease of nothing.
#ifndef BANYAN_RUNTIME_SESSION_SLOT_LEASE_H_
#define BANYAN_RUNTIME_SESSION_SLOT_LEASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/tensor_view.h"
#include "runtime/session/session_key.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SlotLease {
 public:
  enum class Row { kGradients, kResults };

  // Of nothing.
  SlotLease() = default;
  // REQUIRES: the key has lent the slot. `segment` is the key's.
  SlotLease(std::shared_ptr<SessionKeys> keys, std::string key, std::shared_ptr<TensorSegment> segment, Row row,
            uint32_t slot);
  SlotLease(SlotLease&& other) noexcept = default;
  SlotLease& operator=(SlotLease&& other) noexcept;
  // Gives the slot back. The keys' mutex must not be held.
  ~SlotLease() { GiveBack(); }

  // Empty for nothing.
  TensorView values() const;
  uint32_t slot() const { return slot_; }
  bool IsOf(const SessionKeys& keys, const std::string& key) const { return keys_.get() == &keys && key_ == key; }
  // The slot is the node's from here on, and this a lease of nothing.
  void PassOn() {
    keys_.reset();
    segment_.reset();
  }

 private:
  void GiveBack();

  std::shared_ptr<SessionKeys> keys_;  // shared with the session; null for nothing
  std::string key_;
  std::shared_ptr<TensorSegment> segment_;  // shared with the key and running copies
  Row row_ = Row::kGradients;
  uint32_t slot_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SLOT_LEASE_H_
