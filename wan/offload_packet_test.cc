#include "wan/offload_packet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "wan/testing/testing_packet.h"

namespace banyan {
namespace {

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
  const std::vector<uint8_t> bytes = TestingTcpPacket(100, 0);
  const std::optional<OffloadPacket> packet = OffloadPacket::Parse(bytes);
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->destination(), 0x0a630002u);
  EXPECT_EQ(packet->segments(), 1);
  EXPECT_EQ(packet->last_bytes(), 152u);
  EXPECT_EQ(packet->segment_bytes(), 152u);
}

TEST(OffloadPacketTest, CountsTheSegmentsOfALargePacket) {
  const std::vector<uint8_t> bytes = TestingTcpPacket(2 * 1448 + 10, 1448);
  const std::optional<OffloadPacket> packet = OffloadPacket::Parse(bytes);
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->segments(), 3);
  EXPECT_EQ(packet->segment_bytes(), 1500u);
  EXPECT_EQ(packet->last_bytes(), 62u);
  const std::vector<uint8_t> exact = TestingTcpPacket(2 * 1448, 1448);
  EXPECT_EQ(OffloadPacket::Parse(exact)->segments(), 2);
  EXPECT_EQ(OffloadPacket::Parse(exact)->last_bytes(), 1500u);
}

TEST(OffloadPacketTest, OneSegmentThatClaimsOffloadIsOne) {
  const std::vector<uint8_t> bytes = TestingTcpPacket(100, 1448);
  EXPECT_EQ(OffloadPacket::Parse(bytes)->segments(), 1);
  EXPECT_EQ(OffloadPacket::Parse(bytes)->last_bytes(), 152u);
}

TEST(OffloadPacketTest, ARunHasHeadersOfItsOwn) {
  const std::vector<uint8_t> bytes = TestingTcpPacket(5 * 1000, 1000);
  const OffloadPacket packet = *OffloadPacket::Parse(bytes);
  const OffloadPacket::Run run = packet.MakeRun(1, 2);
  ASSERT_EQ(run.header_bytes, kTestingPayload);
  ASSERT_EQ(run.payload.size(), 2000u);
  EXPECT_EQ(run.payload[0], 1000 % 251);
  const uint8_t* ip = run.header.data() + kTestingIp;
  EXPECT_EQ(Read(ip + 2, 2), 2052u);
  EXPECT_EQ(Read(ip + 4, 2), 0x103u);
  EXPECT_EQ(HeaderSum(ip), 0xffffu);
  EXPECT_EQ(Read(ip + 20 + 4, 4), kTestingSequence + 1000);
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
  const std::vector<uint8_t> bytes = TestingTcpPacket(2500, 1000);
  const OffloadPacket packet = *OffloadPacket::Parse(bytes);
  const OffloadPacket::Run first = packet.MakeRun(0, 1);
  EXPECT_EQ(first.header[kTestingTcp + 13], 0x80 | 0x10);
  OffloadHeader offload;
  std::memcpy(&offload, first.header.data(), sizeof(offload));
  EXPECT_EQ(offload.segment_type, OffloadHeader::kNoSegments);
  const OffloadPacket::Run last = packet.MakeRun(2, 1);
  EXPECT_EQ(last.header[kTestingTcp + 13], 0x10 | 0x08 | 0x01);
  EXPECT_EQ(last.payload.size(), 500u);
  EXPECT_EQ(last.payload[499], 2499 % 251);
}

TEST(OffloadPacketTest, RefusesWhatItCannotRead) {
  const auto refused = [](std::vector<uint8_t> bytes) { return !OffloadPacket::Parse(bytes).has_value(); };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused(std::vector<uint8_t>(29)));
  std::vector<uint8_t> bytes = TestingTcpPacket(100, 0);
  bytes[kTestingIp] = 0x65;  // IPv6
  EXPECT_TRUE(refused(bytes));
  bytes[kTestingIp] = 0x41;  // a header of 4 bytes
  EXPECT_TRUE(refused(bytes));
  bytes = TestingTcpPacket(100, 0);
  bytes.pop_back();
  EXPECT_TRUE(refused(bytes));
  bytes = TestingTcpPacket(3000, 1000);
  bytes[1] = OffloadHeader::kUdp;
  EXPECT_TRUE(refused(bytes));
  bytes = TestingTcpPacket(3000, 1000);
  bytes[kTestingTcp + 12] = 1 << 4;  // a TCP header of 4 bytes
  EXPECT_TRUE(refused(bytes));
}

// A UDP packet with 100 bytes, of the testing packet of TCP.
std::vector<uint8_t> UdpPacket(uint8_t mark) {
  std::vector<uint8_t> bytes = TestingTcpPacket(80, 0);
  bytes[kTestingIp + 1] = mark;
  bytes[kTestingIp + 9] = 17;
  return bytes;
}

TEST(OffloadPacketTest, OnlyMarkedUdpMayBeCut) {
  const std::vector<uint8_t> tcp = TestingTcpPacket(100, 0), plain = UdpPacket(0), marked = UdpPacket(kTrimmableMark);
  const std::vector<uint8_t> congested = UdpPacket(kTrimmableMark | 3);
  EXPECT_FALSE(OffloadPacket::Parse(tcp)->is_trimmable());
  EXPECT_FALSE(OffloadPacket::Parse(plain)->is_trimmable());
  EXPECT_TRUE(OffloadPacket::Parse(marked)->is_trimmable());
  EXPECT_TRUE(OffloadPacket::Parse(congested)->is_trimmable());
}

TEST(OffloadPacketTest, ACutPacketIsAWholeOneOfItsLength) {
  const std::vector<uint8_t> bytes = UdpPacket(kTrimmableMark);
  const std::vector<uint8_t> cut = OffloadPacket::Parse(bytes)->MakeTrimmed(73);
  ASSERT_EQ(cut.size(), kTestingIp + 73);
  const std::optional<OffloadPacket> packet = OffloadPacket::Parse(cut);
  ASSERT_TRUE(packet.has_value());
  EXPECT_TRUE(packet->is_trimmable());
  EXPECT_EQ(packet->last_bytes(), 73u);
  EXPECT_EQ(cut[kTestingIp + 1], kTrimmedMark);
  EXPECT_EQ(HeaderSum(cut.data() + kTestingIp), 0xffffu);
  EXPECT_EQ(Read(cut.data() + kTestingIp + 20 + 4, 2), 53u);  // UDP's length
  EXPECT_EQ(Read(cut.data() + kTestingIp + 20 + 6, 2), 0u);   // and its checksum: none
  EXPECT_EQ(cut[0], 0);                                       // nothing for the device to complete
  EXPECT_TRUE(std::equal(cut.begin() + kTestingIp + 28, cut.end(), bytes.begin() + kTestingIp + 28));
}

}  // namespace
}  // namespace banyan
