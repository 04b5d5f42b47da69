#include "wan/packet_pool.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace banyan {

PacketPool::PacketPool(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

std::optional<uint32_t> PacketPool::Store(Buffer& buffer, size_t size, int users) {
  BANYAN_CHECK(size <= kLargestPacket && users > 0);
  const size_t kind = std::lower_bound(kBufferBytes.begin(), kBufferBytes.end(), size) - kBufferBytes.begin();
  const std::optional<uint32_t> slot = FreeSlot(kind);
  if (!slot.has_value()) return std::nullopt;
  Slot& taken = slots_[*slot];
  if (kBufferBytes[kind] == kLargestPacket) {
    std::swap(taken.buffer, buffer);
  } else {
    std::copy_n(buffer.get(), size, taken.buffer.get());
  }
  taken.size = static_cast<uint32_t>(size);
  taken.users = users;
  ++used_slots_;
  return slot;
}

absl::Span<const uint8_t> PacketPool::BytesOf(uint32_t slot) const {
  return {slots_[slot].buffer.get(), slots_[slot].size};
}

void PacketPool::Release(uint32_t slot) {
  Slot& released = slots_[slot];
  BANYAN_CHECK(released.users > 0);
  if (--released.users > 0) return;
  --used_slots_;
  free_[released.kind].push_back(slot);
}

std::optional<uint32_t> PacketPool::FreeSlot(size_t kind) {
  if (!free_[kind].empty()) {
    const uint32_t slot = free_[kind].back();
    free_[kind].pop_back();
    return slot;
  }
  if (buffer_bytes_ + kBufferBytes[kind] > limit_bytes_) return std::nullopt;
  buffer_bytes_ += kBufferBytes[kind];
  slots_.emplace_back();
  slots_.back().buffer = std::make_unique_for_overwrite<uint8_t[]>(kBufferBytes[kind]);
  slots_.back().kind = static_cast<uint8_t>(kind);
  return static_cast<uint32_t>(slots_.size() - 1);
}

}  // namespace banyan
