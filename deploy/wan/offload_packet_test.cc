#include "deploy/wan/offload_packet.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace banyan {
namespace {

constexpr uint32_t kSequence = 0xfffffff0;
constexpr uint8_t kAllFlags = 0x80 | 0x10 | 0x08 | 0x01;  // CWR, ACK, PSH, FIN
constexpr size_t kIp = kOffloadHeaderBytes;
constexpr size_t kTcp = kIp + 20;
constexpr size_t kPayload = kTcp + 32;

// A TCP packet from 10.99.0.1 to 10.99.0.2 with 12 bytes of options; byte i of what it carries is i mod 251.
std::vector<uint8_t> TcpPacket(size_t payload, uint16_t gso_size) {
  std::vector<uint8_t> bytes(kPayload + payload);
  OffloadHeader offload = {};
  offload.flags = OffloadHeader::kNeedsChecksum;
  offload.segment_type = gso_size == 0 ? OffloadHeader::kNoSegments : OffloadHeader::kTcp4;
  offload.segment_payload = gso_size;
  offload.header_bytes = 52;
  offload.checksum_start = 20;
  offload.checksum_offset = 16;
  std::memcpy(bytes.data(), &offload, sizeof(offload));
  const size_t total = bytes.size() - kIp;
  const std::vector<uint8_t> ip = {0x45,
                                   0,
                                   static_cast<uint8_t>(total >> 8),
                                   static_cast<uint8_t>(total),
                                   1,
                                   2,
                                   0x40,
                                   0,
                                   64,
                                   6,
                                   0,
                                   0,
                                   10,
                                   99,
                                   0,
                                   1,
                                   10,
                                   99,
                                   0,
                                   2};
  std::copy(ip.begin(), ip.end(), bytes.begin() + kIp);
  for (int i = 0; i < 4; ++i) bytes[kTcp + 4 + i] = static_cast<uint8_t>(kSequence >> (24 - 8 * i));
  bytes[kTcp + 12] = 8 << 4;
  bytes[kTcp + 13] = kAllFlags;
  for (size_t i = 0; i < payload; ++i) bytes[kPayload + i] = static_cast<uint8_t>(i % 251);
  return bytes;
}

uint32_t Read(const uint8_t* at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

uint32_t HeaderSum(const uint8_t* ip) {
  uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += Read(ip + i, 2);
  return (sum & 0xffff) + (sum >> 16);
}

TEST(OffloadPacketTest, ReadsAPlainPacket) {
  const std::vector<uint8_t> bytes = TcpPacket(100, 0);
  const std::optional<OffloadPacket> packet = OffloadPacket::Parse(bytes);
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->destination(), 0x0a630002u);
  EXPECT_EQ(packet->segments(), 1);
  EXPECT_EQ(packet->last_bytes(), 152u);
  EXPECT_EQ(packet->segment_bytes(), 152u);
}

TEST(OffloadPacketTest, CountsTheSegmentsOfALargePacket) {
  const std::vector<uint8_t> bytes = TcpPacket(2 * 1448 + 10, 1448);
  const std::optional<OffloadPacket> packet = OffloadPacket::Parse(bytes);
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->segments(), 3);
  EXPECT_EQ(packet->segment_bytes(), 1500u);
  EXPECT_EQ(packet->last_bytes(), 62u);
  const std::vector<uint8_t> exact = TcpPacket(2 * 1448, 1448);
  EXPECT_EQ(OffloadPacket::Parse(exact)->segments(), 2);
  EXPECT_EQ(OffloadPacket::Parse(exact)->last_bytes(), 1500u);
}

TEST(OffloadPacketTest, OneSegmentThatClaimsOffloadIsOne) {
  const std::vector<uint8_t> bytes = TcpPacket(100, 1448);
  EXPECT_EQ(OffloadPacket::Parse(bytes)->segments(), 1);
  EXPECT_EQ(OffloadPacket::Parse(bytes)->last_bytes(), 152u);
}

TEST(OffloadPacketTest, ARunHasHeadersOfItsOwn) {
  const std::vector<uint8_t> bytes = TcpPacket(5 * 1000, 1000);
  const OffloadPacket packet = *OffloadPacket::Parse(bytes);
  const OffloadPacket::Run run = packet.MakeRun(1, 2);
  ASSERT_EQ(run.header_bytes, kPayload);
  ASSERT_EQ(run.payload.size(), 2000u);
  EXPECT_EQ(run.payload[0], 1000 % 251);
  const uint8_t* ip = run.header.data() + kIp;
  EXPECT_EQ(Read(ip + 2, 2), 2052u);
  EXPECT_EQ(Read(ip + 4, 2), 0x103u);
  EXPECT_EQ(HeaderSum(ip), 0xffffu);
  EXPECT_EQ(Read(ip + 20 + 4, 4), kSequence + 1000);
  EXPECT_EQ(ip[20 + 13], 0x10);
  OffloadHeader offload;
  std::memcpy(&offload, run.header.data(), sizeof(offload));
  EXPECT_EQ(offload.segment_type, OffloadHeader::kTcp4);
  EXPECT_EQ(offload.segment_payload, 1000);
  EXPECT_EQ(offload.flags, OffloadHeader::kNeedsChecksum);
  // 10.99.0.1, 10.99.0.2, protocol 6, 2032 bytes.
  EXPECT_EQ(Read(ip + 20 + 16, 2), 0x0a63u + 0x0001 + 0x0a63 + 0x0002 + 6 + 2032);
}

TEST(OffloadPacketTest, FirstAndLastSegmentsKeepTheirFlags) {
  const std::vector<uint8_t> bytes = TcpPacket(2500, 1000);
  const OffloadPacket packet = *OffloadPacket::Parse(bytes);
  const OffloadPacket::Run first = packet.MakeRun(0, 1);
  EXPECT_EQ(first.header[kTcp + 13], 0x80 | 0x10);
  OffloadHeader offload;
  std::memcpy(&offload, first.header.data(), sizeof(offload));
  EXPECT_EQ(offload.segment_type, OffloadHeader::kNoSegments);
  const OffloadPacket::Run last = packet.MakeRun(2, 1);
  EXPECT_EQ(last.header[kTcp + 13], 0x10 | 0x08 | 0x01);
  EXPECT_EQ(last.payload.size(), 500u);
  EXPECT_EQ(last.payload[499], 2499 % 251);
}

TEST(OffloadPacketTest, RefusesWhatItCannotRead) {
  const auto refused = [](std::vector<uint8_t> bytes) { return !OffloadPacket::Parse(bytes).has_value(); };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused(std::vector<uint8_t>(29)));
  std::vector<uint8_t> bytes = TcpPacket(100, 0);
  bytes[kIp] = 0x65;  // IPv6
  EXPECT_TRUE(refused(bytes));
  bytes[kIp] = 0x41;  // a header of 4 bytes
  EXPECT_TRUE(refused(bytes));
  bytes = TcpPacket(100, 0);
  bytes.pop_back();
  EXPECT_TRUE(refused(bytes));
  bytes = TcpPacket(3000, 1000);
  bytes[1] = OffloadHeader::kUdp;
  EXPECT_TRUE(refused(bytes));
  bytes = TcpPacket(3000, 1000);
  bytes[kTcp + 12] = 1 << 4;  // a TCP header of 4 bytes
  EXPECT_TRUE(refused(bytes));
}

}  // namespace
}  // namespace banyan
