#include "wan/offload_packet.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"

namespace banyan {
namespace {

// RFC 791 and RFC 9293.
constexpr size_t kLeastIpHeader = 20;
constexpr size_t kLeastTcpHeader = 20;
constexpr size_t kUdpHeader = 8;
constexpr size_t kUdpLength = 4;
constexpr size_t kUdpChecksum = 6;
constexpr size_t kIpMark = 1;
constexpr size_t kIpLength = 2;
constexpr size_t kIpId = 4;
constexpr size_t kIpProtocol = 9;
constexpr size_t kIpChecksum = 10;
constexpr size_t kIpSource = 12;
constexpr size_t kIpDestination = 16;
constexpr size_t kTcpSequence = 4;
constexpr size_t kTcpDataOffset = 12;
constexpr size_t kTcpFlags = 13;
constexpr size_t kTcpChecksum = 16;
constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr uint8_t kCongestionBits = 3;
constexpr uint8_t kFinAndPush = 0x01 | 0x08;
constexpr uint8_t kWindowReduced = 0x80;

uint32_t Read16(const uint8_t* at) { return uint32_t{at[0]} << 8 | at[1]; }
uint32_t Read32(const uint8_t* at) { return Read16(at) << 16 | Read16(at + 2); }

void Write16(uint8_t* at, uint32_t value) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}

void Write32(uint8_t* at, uint32_t value) {
  Write16(at, value >> 16);
  Write16(at + 2, value);
}

// The ones' complement sum of RFC 1071.
uint32_t Sum(const uint8_t* bytes, size_t size, uint32_t sum) {
  for (size_t i = 0; i + 1 < size; i += 2) sum += Read16(bytes + i);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

void FixIp(uint8_t* ip, uint32_t header_bytes, uint32_t total_bytes, uint32_t id_step) {
  Write16(ip + kIpLength, total_bytes);
  Write16(ip + kIpId, Read16(ip + kIpId) + id_step);
  Write16(ip + kIpChecksum, 0);
  Write16(ip + kIpChecksum, ~Sum(ip, header_bytes, 0));
}

// Whoever completes the checksum expects the sum of the pseudo header in its place.
void FixTcp(const uint8_t* ip, uint8_t* tcp, uint32_t tcp_bytes, uint32_t sequence_step, uint8_t cleared_flags) {
  Write32(tcp + kTcpSequence, Read32(tcp + kTcpSequence) + sequence_step);
  tcp[kTcpFlags] &= static_cast<uint8_t>(~cleared_flags);
  Write16(tcp + kTcpChecksum, Sum(ip + kIpSource, 8, kTcp + tcp_bytes));
}

}  // namespace

std::optional<OffloadPacket> OffloadPacket::Parse(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < kOffloadHeaderBytes + kLeastIpHeader) return std::nullopt;
  const uint8_t* ip = bytes.data() + kOffloadHeaderBytes;
  const size_t ip_bytes = bytes.size() - kOffloadHeaderBytes;
  OffloadPacket packet;
  packet.bytes_ = bytes;
  packet.ip_header_bytes_ = (ip[0] & 0xf) * 4;
  if (ip[0] >> 4 != 4 || packet.ip_header_bytes_ < kLeastIpHeader || packet.ip_header_bytes_ > ip_bytes ||
      Read16(ip + kIpLength) != ip_bytes) {
    return std::nullopt;
  }
  packet.destination_ = Read32(ip + kIpDestination);
  packet.header_bytes_ = static_cast<uint32_t>(ip_bytes);
  if (!packet.ReadSegments()) return std::nullopt;
  return packet;
}

bool OffloadPacket::ReadSegments() {
  OffloadHeader offload;
  std::memcpy(&offload, bytes_.data(), sizeof(offload));
  if (offload.segment_type == OffloadHeader::kNoSegments) return true;
  const uint8_t* ip = bytes_.data() + kOffloadHeaderBytes;
  const uint32_t ip_bytes = header_bytes_;
  if ((offload.segment_type & ~OffloadHeader::kCongestionMark) != OffloadHeader::kTcp4 ||
      offload.segment_payload == 0 || ip[kIpProtocol] != kTcp || ip_bytes < ip_header_bytes_ + kLeastTcpHeader) {
    return false;
  }
  const uint32_t tcp_header = (ip[ip_header_bytes_ + kTcpDataOffset] >> 4) * 4;
  header_bytes_ = ip_header_bytes_ + tcp_header;
  if (tcp_header < kLeastTcpHeader || header_bytes_ >= ip_bytes) return false;
  const uint32_t payload = ip_bytes - header_bytes_;
  segment_payload_ = offload.segment_payload;
  segments_ = static_cast<int>((payload + segment_payload_ - 1) / segment_payload_);
  if (segments_ > 1) return true;
  // One segment that says it is several: what it carries fits into one.
  segment_payload_ = payload;
  return true;
}

uint32_t OffloadPacket::last_bytes() const {
  const auto ip_bytes = static_cast<uint32_t>(bytes_.size() - kOffloadHeaderBytes);
  return ip_bytes - static_cast<uint32_t>(segments_ - 1) * segment_payload_;
}

bool OffloadPacket::is_trimmable() const {
  const uint8_t* ip = bytes_.data() + kOffloadHeaderBytes;
  const uint8_t mark = ip[kIpMark] & ~kCongestionBits;
  return segments_ == 1 && ip[kIpProtocol] == kUdp && (mark == kTrimmableMark || mark == kTrimmedMark) &&
         header_bytes_ >= ip_header_bytes_ + kUdpHeader;
}

std::vector<uint8_t> OffloadPacket::MakeTrimmed(uint32_t ip_bytes) const {
  BANYAN_CHECK(is_trimmable() && ip_bytes >= ip_header_bytes_ + kUdpHeader && ip_bytes <= header_bytes_);
  std::vector<uint8_t> trimmed(bytes_.begin(), bytes_.begin() + kOffloadHeaderBytes + ip_bytes);
  const OffloadHeader offload;
  std::memcpy(trimmed.data(), &offload, sizeof(offload));
  uint8_t* ip = trimmed.data() + kOffloadHeaderBytes;
  ip[kIpMark] = static_cast<uint8_t>(kTrimmedMark | (ip[kIpMark] & kCongestionBits));
  FixIp(ip, ip_header_bytes_, ip_bytes, 0);
  Write16(ip + ip_header_bytes_ + kUdpLength, ip_bytes - ip_header_bytes_);
  Write16(ip + ip_header_bytes_ + kUdpChecksum, 0);
  return trimmed;
}

OffloadPacket::Run OffloadPacket::MakeRun(int first, int count) const {
  BANYAN_CHECK(segments_ > 1 && first >= 0 && count >= 1 && first + count <= segments_);
  const uint32_t skipped = static_cast<uint32_t>(first) * segment_payload_;
  Run run;
  run.header_bytes = kOffloadHeaderBytes + header_bytes_;
  std::copy_n(bytes_.data(), run.header_bytes, run.header.data());
  run.payload = bytes_.subspan(run.header_bytes + skipped, static_cast<size_t>(count) * segment_payload_);

  OffloadHeader offload;
  std::memcpy(&offload, run.header.data(), sizeof(offload));
  if (count == 1) {
    offload.segment_type = OffloadHeader::kNoSegments;
    offload.segment_payload = 0;
  }
  std::memcpy(run.header.data(), &offload, sizeof(offload));

  uint8_t* ip = run.header.data() + kOffloadHeaderBytes;
  const auto payload_bytes = static_cast<uint32_t>(run.payload.size());
  FixIp(ip, ip_header_bytes_, header_bytes_ + payload_bytes, static_cast<uint32_t>(first));
  const uint8_t not_last = first + count < segments_ ? kFinAndPush : 0;
  const uint8_t not_first = first > 0 ? kWindowReduced : 0;
  FixTcp(ip, ip + ip_header_bytes_, header_bytes_ - ip_header_bytes_ + payload_bytes, skipped, not_last | not_first);
  return run;
}

}  // namespace banyan
