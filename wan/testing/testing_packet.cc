#include "wan/testing/testing_packet.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace banyan {
namespace {

constexpr uint8_t kFlags = 0x80 | 0x10 | 0x08 | 0x01;
constexpr uint8_t kTimeToLive = 64;
constexpr uint8_t kTcp = 6;

}  // namespace

std::vector<uint8_t> TestingTcpPacket(size_t payload, uint16_t segment_payload) {
  std::vector<uint8_t> bytes(kTestingPayload + payload);
  OffloadHeader offload;
  offload.flags = OffloadHeader::kNeedsChecksum;
  offload.segment_type = segment_payload == 0 ? OffloadHeader::kNoSegments : OffloadHeader::kTcp4;
  offload.segment_payload = segment_payload;
  offload.header_bytes = kTestingPayload - kTestingIp;
  offload.checksum_start = kTestingTcp - kTestingIp;
  offload.checksum_offset = 16;
  std::memcpy(bytes.data(), &offload, sizeof(offload));
  const size_t total = bytes.size() - kTestingIp;
  const std::array<uint8_t, 12> ip = {
      0x45, 0, static_cast<uint8_t>(total >> 8), static_cast<uint8_t>(total), 1, 2, 0x40, 0, kTimeToLive, kTcp, 0, 0};
  const std::array<uint8_t, 8> addresses = {10, 99, 0, 1, 10, 99, 0, 2};
  std::copy(ip.begin(), ip.end(), bytes.begin() + kTestingIp);
  std::copy(addresses.begin(), addresses.end(), bytes.begin() + kTestingIp + ip.size());
  for (size_t i = 0; i < 4; ++i) bytes[kTestingTcp + 4 + i] = static_cast<uint8_t>(kTestingSequence >> (24 - 8 * i));
  bytes[kTestingTcp + 12] = 8 << 4;
  bytes[kTestingTcp + 13] = kFlags;
  for (size_t i = 0; i < payload; ++i) bytes[kTestingPayload + i] = static_cast<uint8_t>(i % 251);
  return bytes;
}

}  // namespace banyan
