#include "sim/network/simulated_link.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kMillisecond = 1000000;

SimulatedLink TenMegabits() {
  LinkOptions options;
  options.rate_bps = 10e6;
  options.delay = absl::Milliseconds(15);
  return SimulatedLink(options);
}

TEST(SimulatedLinkTest, DataQueuesBehindData) {
  Random random(1);
  SimulatedLink link = TenMegabits();
  // 12,500 bytes take 10 ms at 10 Mbit/s.
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), 25 * kMillisecond);
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), 35 * kMillisecond);
  EXPECT_EQ(link.SendData(100 * kMillisecond, 12500, nullptr, &random), 125 * kMillisecond);
  EXPECT_EQ(link.data_bytes(), 37500);
}

TEST(SimulatedLinkTest, ControlPassesDataButTakesItsPartOfTheRate) {
  Random random(1);
  SimulatedLink link = TenMegabits();
  link.SendData(0, 125000, nullptr, &random);
  EXPECT_EQ(link.SendControl(0, 1250, &random), 16 * kMillisecond);
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), (100 + 1 + 10 + 15) * kMillisecond);
  EXPECT_EQ(link.control_bytes(), 1250);
}

TEST(SimulatedLinkTest, WhatOthersSendTakesItsPartAsFarAsTheQueueHasRoom) {
  Random random(1);
  SimulatedLink link = TenMegabits();
  link.SendForeign(0, 12500);
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), 35 * kMillisecond);
  link.SendForeign(0, 125000);
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), 145 * kMillisecond);
  link.SendForeign(0, 125000);
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), 155 * kMillisecond) << "the queue was full";
  EXPECT_EQ(link.data_bytes(), 37500) << "the job's alone";
}

TEST(SimulatedLinkTest, TheHostsCapIsSharedByItsLinks) {
  Random random(1);
  SimulatedLink first = TenMegabits();
  SimulatedLink second = TenMegabits();
  Serializer host(10e6);
  EXPECT_EQ(first.SendData(0, 12500, &host, &random), 25 * kMillisecond);
  EXPECT_EQ(second.SendData(0, 12500, &host, &random), 35 * kMillisecond);
}

TEST(SimulatedLinkTest, HeadersAndAcknowledgementsTakeTheirPartOfTheRate) {
  Random random(1);
  LinkOptions options;
  options.rate_bps = 12e6;
  options.has_headers = true;
  SimulatedLink link(options);
  // Packets of 1500 bytes, each 1 ms, and one of 52 bytes and what is in it.
  EXPECT_EQ(link.SendData(0, 10 * 1448, nullptr, &random), 10 * kMillisecond);
  EXPECT_EQ(link.SendData(0, 10 * 1448 + 98, nullptr, &random), (20 * 1500 + 150) * kMillisecond / 1500);
  EXPECT_EQ(link.data_bytes(), 20 * 1448 + 98);
  EXPECT_EQ(link.SendControl(0, 98, &random), kMillisecond / 10);
  // Of 4 and of 3 packets: two acknowledgements each.
  link.SendAcknowledgements(100 * kMillisecond, 4 * 1448);
  link.SendAcknowledgements(100 * kMillisecond, 3 * 1448);
  EXPECT_NEAR(link.SendData(100 * kMillisecond, 1448, nullptr, &random),
              100 * kMillisecond + (4 * 52 + 1500) * kMillisecond / 1500, 3);
}

TEST(SimulatedLinkTest, WithoutHeadersAcknowledgementsTakeNothing) {
  Random random(1);
  SimulatedLink link = TenMegabits();
  link.SendAcknowledgements(0, 1'000'000);
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), 25 * kMillisecond);
}

TEST(SimulatedLinkTest, AStallHoldsTheData) {
  Random random(1);
  SimulatedLink link = TenMegabits();
  link.Stall(Timestamp::FromNanoseconds(50 * kMillisecond));
  EXPECT_EQ(link.SendData(0, 12500, nullptr, &random), 75 * kMillisecond);
}

TEST(SimulatedLinkTest, JitterAndLossOnlyDelay) {
  Random random(1);
  LinkOptions options;
  options.delay = absl::Milliseconds(10);
  options.jitter = absl::Milliseconds(5);
  options.loss_fraction = 0.01;
  SimulatedLink link(options);
  int retransmitted = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t arrival_ns = link.SendData(0, 14480, nullptr, &random);
    EXPECT_GE(arrival_ns, 10 * kMillisecond);
    EXPECT_LE(arrival_ns, 35 * kMillisecond);
    if (arrival_ns > 15 * kMillisecond) ++retransmitted;
  }
  EXPECT_NEAR(retransmitted, 100, 40);  // ten packets, each lost with 1 %
}

TEST(SimulatedLinkTest, LinksTakeTheirPartsOfAWireThatTheyShare) {
  Random random(1);
  SimulatedLink first = TenMegabits();
  SimulatedLink second = TenMegabits();
  Serializer wire(10e6);
  first.Share(&wire);
  second.Share(&wire);
  EXPECT_EQ(first.SendData(0, 12500, nullptr, &random), 25 * kMillisecond);
  EXPECT_EQ(second.SendControl(0, 1250, &random), 16 * kMillisecond);
  EXPECT_EQ(second.SendData(0, 12500, nullptr, &random), (10 + 1 + 10 + 15) * kMillisecond);
}

}  // namespace
}  // namespace banyan
