// The header before each packet of a TUN device with offload. It is struct virtio_net_hdr of the Virtual I/O Device
// specification 1.2, section 5.1.6, in the machine's byte order. The kernel's header for it is no C++. A value.
#ifndef BANYAN_WAN_OFFLOAD_HEADER_H_
#define BANYAN_WAN_OFFLOAD_HEADER_H_

#include <cstdint>

namespace banyan {

struct OffloadHeader {
  static constexpr uint8_t kNeedsChecksum = 1;  // of flags
  // Values of segment_type.
  static constexpr uint8_t kNoSegments = 0;
  static constexpr uint8_t kTcp4 = 1;
  static constexpr uint8_t kUdp = 3;
  static constexpr uint8_t kCongestionMark = 0x80;

  uint8_t flags = 0;
  uint8_t segment_type = kNoSegments;
  uint16_t header_bytes = 0;
  uint16_t segment_payload = 0;
  uint16_t checksum_start = 0;
  uint16_t checksum_offset = 0;
};

static_assert(sizeof(OffloadHeader) == 10);

}  // namespace banyan

#endif  // BANYAN_WAN_OFFLOAD_HEADER_H_
