// A packet as a TUN device with segmentation offload hands it over: a OffloadHeader, then IPv4. Reads how many wire
// segments it stands for. Makes the headers of a run of them, so that part of a packet can be handed on without copying
// what it carries. Pure; the bytes must outlive the object. Thread-compatible.
#ifndef BANYAN_WAN_OFFLOAD_PACKET_H_
#define BANYAN_WAN_OFFLOAD_PACKET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace banyan {

// The header before each packet of a TUN device with offload. It is struct virtio_net_hdr of the Virtual I/O Device
// specification 1.2, section 5.1.6, in the machine's byte order. The kernel's header for it is no C++. A value.
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

// The marks in IP's second byte (DSCP 34 and 35 here; RFC 2474) of a UDP packet that switches may cut, and of one that
// was cut.
inline constexpr uint8_t kTrimmableMark = 34 << 2;
inline constexpr uint8_t kTrimmedMark = 35 << 2;

inline constexpr size_t kOffloadHeaderBytes = sizeof(OffloadHeader);
// The largest packet of IPv4 behind its OffloadHeader.
inline constexpr size_t kMostOffloadBytes = kOffloadHeaderBytes + 65535;

class OffloadPacket {
 public:
  // OffloadHeader, and IPv4 and TCP with all their options.
  static constexpr size_t kMostHeaderBytes = kOffloadHeaderBytes + 60 + 60;

  // The headers of some segments and what these carry.
  struct Run {
    std::array<uint8_t, kMostHeaderBytes> header;
    size_t header_bytes = 0;
    absl::Span<const uint8_t> payload;
  };

  // Empty for anything that is not a whole IPv4 packet, or is offloaded in a way that nobody asked for.
  static std::optional<OffloadPacket> Parse(absl::Span<const uint8_t> bytes);

  // Returns the destination address in host byte order.
  uint32_t destination() const { return destination_; }
  int segments() const { return segments_; }
  // A UDP packet with kTrimmableMark, or one that was cut before.
  bool is_trimmable() const;
  // IP bytes on the wire.
  uint32_t segment_bytes() const { return header_bytes_ + segment_payload_; }
  uint32_t last_bytes() const;

  // REQUIRES: more than one segment, 0 <= first, 1 <= count, first + count <= segments().
  Run MakeRun(int first, int count) const;

  // The first `ip_bytes` as a switch leaves them: with kTrimmedMark, right lengths, and without UDP's checksum.
  // REQUIRES: is_trimmable(), and IP and UDP headers fit.
  std::vector<uint8_t> MakeTrimmed(uint32_t ip_bytes) const;

 private:
  OffloadPacket() = default;

  bool ReadSegments();

  absl::Span<const uint8_t> bytes_;
  uint32_t destination_ = 0;
  uint32_t ip_header_bytes_ = 0;
  uint32_t header_bytes_ = 0;     // of IP and TCP; all of a packet of one segment
  uint32_t segment_payload_ = 0;  // of every segment but the last
  int segments_ = 1;
};

}  // namespace banyan

#endif  // BANYAN_WAN_OFFLOAD_PACKET_H_
