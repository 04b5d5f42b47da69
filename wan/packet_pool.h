// The bytes of the packets that are under way, in buffers that are made once and used again. Slots are counted: several
// trains may share a packet. Thread-compatible; owned by the forwarder.
#ifndef BANYAN_WAN_PACKET_POOL_H_
#define BANYAN_WAN_PACKET_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace banyan {

class PacketPool {
 public:
  // Holds packets of up to kLargestPacket bytes while their buffers take no more than `limit_bytes`.
  static constexpr size_t kLargestPacket = 66 * 1024;
  explicit PacketPool(size_t limit_bytes);

  // Room for the largest packet, to read into.
  using Buffer = std::unique_ptr<uint8_t[]>;
  static Buffer NewBuffer() { return std::make_unique_for_overwrite<uint8_t[]>(kLargestPacket); }

  // Keeps the first `size` bytes in a slot with this many users: a large packet's buffer becomes the slot's, which
  // saves the copy, and `buffer` another one. BytesOf the slot are then at the same place. Empty when the pool is full.
  std::optional<uint32_t> Store(Buffer& buffer, size_t size, int users);
  absl::Span<const uint8_t> BytesOf(uint32_t slot) const;
  // One user less; the slot of the last one is free again.
  void Release(uint32_t slot);

  size_t used_slots() const { return used_slots_; }
  size_t buffer_bytes() const { return buffer_bytes_; }

 private:
  struct Slot {
    Buffer buffer;
    uint32_t size = 0;
    int32_t users = 0;
    uint8_t kind = 0;  // index in kBufferBytes
  };
  // Most packets are one segment, or a few that the kernel sends at once on a slow link.
  static constexpr std::array<size_t, 3> kBufferBytes = {2048, 16 * 1024, kLargestPacket};

  std::optional<uint32_t> FreeSlot(size_t kind);

  const size_t limit_bytes_;
  size_t buffer_bytes_ = 0;
  size_t used_slots_ = 0;
  std::vector<Slot> slots_;
  std::array<std::vector<uint32_t>, kBufferBytes.size()> free_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_PACKET_POOL_H_
