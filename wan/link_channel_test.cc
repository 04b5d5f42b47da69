#include "wan/link_channel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace banyan {
namespace {

constexpr int64_t kMillisecondNs = 1000 * 1000;
constexpr int64_t kSecondNs = 1000 * kMillisecondNs;
constexpr uint32_t kPacketBytes = 1500;

// 1500 bytes take 1 ms.
ChannelOptions TwelveMegabits() {
  ChannelOptions options;
  options.rate_bps = 12e6;
  options.delay = absl::Milliseconds(10);
  options.queue_time = absl::Milliseconds(100);
  return options;
}

struct Arrival {
  int64_t at_ns;
  SegmentTrain train;
};

// Everything that arrives until then, each at its time.
std::vector<Arrival> Drain(LinkChannel& channel, int64_t until_ns) {
  std::vector<Arrival> arrivals;
  for (int64_t next = channel.NextArrivalNs(); next <= until_ns; next = channel.NextArrivalNs()) {
    SegmentTrain train;
    EXPECT_TRUE(channel.TakeArrival(next, &train));
    arrivals.push_back({next, train});
  }
  return arrivals;
}

SegmentTrain Train(uint32_t packet, int segments) {
  SegmentTrain train = SingleSegment(packet, kPacketBytes);
  train.segments = static_cast<uint8_t>(segments);
  train.alive = AllAlive(segments);
  return train;
}

TEST(LinkChannelTest, SerialisesThenPropagates) {
  LinkChannel channel(TwelveMegabits());
  EXPECT_EQ(channel.NextArrivalNs(), kNeverNs);
  EXPECT_TRUE(channel.Offer(5 * kMillisecondNs, SingleSegment(7, kPacketBytes)));
  EXPECT_EQ(channel.NextArrivalNs(), 16 * kMillisecondNs);
  SegmentTrain train;
  EXPECT_FALSE(channel.TakeArrival(16 * kMillisecondNs - 1, &train));
  ASSERT_TRUE(channel.TakeArrival(16 * kMillisecondNs, &train));
  EXPECT_EQ(train.packet, 7u);
  EXPECT_EQ(channel.NextArrivalNs(), kNeverNs);
}

TEST(LinkChannelTest, KeepsTheOrderAndTheRate) {
  LinkChannel channel(TwelveMegabits());
  for (uint32_t i = 0; i < 40; ++i) ASSERT_TRUE(channel.Offer(0, SingleSegment(i, kPacketBytes)));
  const std::vector<Arrival> arrivals = Drain(channel, kSecondNs);
  ASSERT_EQ(arrivals.size(), 40u);
  for (uint32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(arrivals[i].train.packet, i);
    EXPECT_EQ(arrivals[i].at_ns, (11 + i) * kMillisecondNs);
  }
}

TEST(LinkChannelTest, CarriesItsRateOverALongTime) {
  ChannelOptions options = TwelveMegabits();
  options.rate_bps = 77.7e6;
  LinkChannel channel(options);
  int64_t arrived_bytes = 0;
  for (int64_t now = 0; now < 10 * kSecondNs; now += kMillisecondNs) {
    for (int i = 0; i < 10; ++i) channel.Offer(now, SingleSegment(0, kPacketBytes));
    SegmentTrain train;
    while (channel.TakeArrival(now, &train)) arrived_bytes += train.WireBytes();
  }
  const double busy_seconds = 10 - 0.010;
  EXPECT_NEAR(static_cast<double>(arrived_bytes) * 8 / busy_seconds, 77.7e6, 77.7e6 * 1e-3);
}

TEST(LinkChannelTest, DropsTheTailWhenTheQueueIsFull) {
  LinkChannel channel(TwelveMegabits());
  ASSERT_EQ(channel.queue_limit_bytes(), 150000);
  for (uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(channel.Offer(0, SingleSegment(i, kPacketBytes)));
  EXPECT_FALSE(channel.Offer(0, SingleSegment(100, kPacketBytes)));
  EXPECT_EQ(channel.counters().dropped_segments, 1);
  EXPECT_EQ(channel.QueuedBytes(0), 150000);
  // One packet has left, so one has room.
  EXPECT_TRUE(channel.Offer(kMillisecondNs, SingleSegment(101, kPacketBytes)));
  EXPECT_FALSE(channel.Offer(kMillisecondNs, SingleSegment(102, kPacketBytes)));
  const std::vector<Arrival> arrivals = Drain(channel, kSecondNs);
  ASSERT_EQ(arrivals.size(), 101u);
  EXPECT_EQ(arrivals.back().train.packet, 101u);
}

TEST(LinkChannelTest, TakesTheSegmentsOfATrainThatFit) {
  LinkChannel channel(TwelveMegabits());
  for (uint32_t i = 0; i < 98; ++i) ASSERT_TRUE(channel.Offer(0, SingleSegment(i, kPacketBytes)));
  ASSERT_TRUE(channel.Offer(0, Train(98, 5)));
  EXPECT_EQ(channel.counters().dropped_segments, 3);
  const std::vector<Arrival> arrivals = Drain(channel, kSecondNs);
  EXPECT_EQ(arrivals.back().train.alive, 0b11u);
  EXPECT_EQ(arrivals.back().at_ns, 110 * kMillisecondNs);
}

TEST(LinkChannelTest, HoldsOneLargePacketHoweverSlowItIs) {
  ChannelOptions options = TwelveMegabits();
  options.rate_bps = 1e6;
  EXPECT_EQ(LinkChannel(options).queue_limit_bytes(), kLeastQueueBytes);
}

TEST(LinkChannelTest, ARateChangeHoldsForTheRestOfWhatIsBeingSent) {
  LinkChannel channel(TwelveMegabits());
  for (uint32_t i = 0; i < 3; ++i) channel.Offer(0, SingleSegment(i, kPacketBytes));
  // Half of the first one is left: at a tenth of the rate it takes 5 ms more, the others 10 ms each.
  channel.SetRate(kMillisecondNs / 2, 1.2e6);
  std::vector<Arrival> arrivals = Drain(channel, kSecondNs);
  ASSERT_EQ(arrivals.size(), 3u);
  EXPECT_EQ(arrivals[0].at_ns, 15 * kMillisecondNs + kMillisecondNs / 2);
  EXPECT_EQ(arrivals[1].at_ns, 25 * kMillisecondNs + kMillisecondNs / 2);
  EXPECT_EQ(arrivals[2].at_ns, 35 * kMillisecondNs + kMillisecondNs / 2);
}

TEST(LinkChannelTest, AFasterRateNeverOvertakes) {
  LinkChannel channel(TwelveMegabits());
  for (uint32_t i = 0; i < 10; ++i) channel.Offer(0, SingleSegment(i, kPacketBytes));
  channel.SetRate(4 * kMillisecondNs, 12e9);
  const std::vector<Arrival> arrivals = Drain(channel, kSecondNs);
  ASSERT_EQ(arrivals.size(), 10u);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(arrivals[i].train.packet, i);
  EXPECT_EQ(arrivals[3].at_ns, 14 * kMillisecondNs);
  EXPECT_EQ(arrivals[9].at_ns, 14 * kMillisecondNs + 6000);
}

// The alive masks of so many trains, in order.
std::vector<uint64_t> AliveMasks(double loss, uint64_t seed, int trains, int segments, int64_t gap_ns) {
  ChannelOptions options = TwelveMegabits();
  options.rate_bps = 12e9;
  options.loss_fraction = loss;
  options.loss_seed = seed;
  LinkChannel channel(options);
  std::vector<uint64_t> masks;
  for (int i = 0; i < trains; ++i) {
    const int64_t now = i * gap_ns;
    channel.Offer(now, Train(0, segments));
    SegmentTrain train;
    while (channel.TakeArrival(now, &train)) masks.push_back(train.alive);
  }
  for (const Arrival& arrival : Drain(channel, kNeverNs - 1)) masks.push_back(arrival.train.alive);
  return masks;
}

int64_t CountLost(const std::vector<uint64_t>& masks, int segments) {
  int64_t lost = 0;
  for (const uint64_t mask : masks) lost += segments - std::popcount(mask);
  return lost;
}

TEST(LinkChannelTest, LosesTheConfiguredFractionOfSegments) {
  for (const double loss : {0.0002, 0.01, 0.3}) {
    for (const int segments : {1, 8, 64}) {
      const int trains = 2000000 / segments;
      const double expected = loss * trains * segments;
      const double deviation = std::sqrt(expected * (1 - loss));
      const std::vector<uint64_t> masks = AliveMasks(loss, 3, trains, segments, kMillisecondNs);
      EXPECT_NEAR(static_cast<double>(CountLost(masks, segments)), expected, 4 * deviation)
          << loss << " of trains of " << segments;
    }
  }
}

TEST(LinkChannelTest, TheSameSeedLosesTheSameSegmentsWhateverTheTimes) {
  const std::vector<uint64_t> masks = AliveMasks(0.01, 5, 20000, 4, kMillisecondNs);
  EXPECT_EQ(masks, AliveMasks(0.01, 5, 20000, 4, 3 * kMillisecondNs + 17));
  EXPECT_NE(masks, AliveMasks(0.01, 6, 20000, 4, kMillisecondNs));
}

TEST(LinkChannelTest, TheSequenceOfLossesDoesNotDependOnTrains) {
  std::vector<bool> singles;
  for (const uint64_t mask : AliveMasks(0.05, 9, 8000, 1, kMillisecondNs)) singles.push_back(mask != 0);
  std::vector<bool> from_trains;
  for (const uint64_t mask : AliveMasks(0.05, 9, 1000, 8, kMillisecondNs)) {
    for (int i = 0; i < 8; ++i) from_trains.push_back((mask >> i & 1) != 0);
  }
  EXPECT_EQ(singles, from_trains);
}

TEST(LinkChannelTest, CountsWhatItSent) {
  ChannelOptions options = TwelveMegabits();
  options.loss_fraction = 0.5;
  LinkChannel channel(options);
  channel.Offer(0, Train(0, 60));
  Drain(channel, kSecondNs);
  EXPECT_EQ(channel.counters().sent_bytes, 90000);
  EXPECT_EQ(channel.counters().sent_segments, 60);
  EXPECT_GT(channel.counters().lost_segments, 10);
  EXPECT_LT(channel.counters().lost_segments, 50);
}

SegmentTrain Trimmable(uint32_t packet) {
  SegmentTrain train = SingleSegment(packet, kPacketBytes);
  train.is_trimmable = true;
  return train;
}

TEST(LinkChannelTest, CutsWhatTheQueueHasNoRoomForAndSendsItFirst) {
  ChannelOptions options = TwelveMegabits();
  options.trim_bytes = 75;  // 0.05 ms
  LinkChannel channel(options);
  const int64_t room = channel.queue_limit_bytes() / kPacketBytes;
  for (uint32_t i = 0; i < static_cast<uint32_t>(room) + 2; ++i) EXPECT_TRUE(channel.Offer(0, Trimmable(i)));
  EXPECT_EQ(channel.counters().trimmed_segments, 2);
  EXPECT_EQ(channel.counters().dropped_segments, 0);
  const std::vector<Arrival> arrivals = Drain(channel, kSecondNs);
  ASSERT_EQ(arrivals.size(), static_cast<size_t>(room) + 2);
  // What was being sent, what was cut in its order, and then the rest.
  EXPECT_EQ(arrivals[0].train.packet, 0u);
  EXPECT_EQ(arrivals[1].train.packet, static_cast<uint32_t>(room));
  EXPECT_EQ(arrivals[2].train.packet, static_cast<uint32_t>(room) + 1);
  EXPECT_TRUE(arrivals[2].train.is_trimmed);
  EXPECT_EQ(arrivals[2].at_ns - arrivals[1].at_ns, kMillisecondNs / 20);
  EXPECT_EQ(arrivals[3].train.packet, 1u);
  EXPECT_FALSE(arrivals[3].train.is_trimmed);
  EXPECT_EQ(channel.QueuedBytes(kSecondNs), 0);
}

TEST(LinkChannelTest, CutPacketsHaveALimitOfTheirOwn) {
  ChannelOptions options = TwelveMegabits();
  options.trim_bytes = 1000;
  LinkChannel channel(options);
  const int64_t room = channel.queue_limit_bytes() / kPacketBytes;
  const int64_t cut = kTrimmedQueueBytes / options.trim_bytes;
  for (int64_t i = 0; i < room + cut + 3; ++i) channel.Offer(0, Trimmable(static_cast<uint32_t>(i)));
  EXPECT_EQ(channel.counters().dropped_segments, 3);
  // Others are dropped as before.
  EXPECT_FALSE(channel.Offer(0, SingleSegment(9, kPacketBytes)));
  EXPECT_EQ(channel.counters().dropped_segments, 4);
}

TEST(LinkChannelTest, APacketThatWasCutBeforeOvertakesToo) {
  ChannelOptions options = TwelveMegabits();
  options.trim_bytes = 75;
  LinkChannel channel(options);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(channel.Offer(0, Trimmable(i)));
  SegmentTrain cut = SingleSegment(7, 75);
  cut.is_trimmable = cut.is_trimmed = true;
  EXPECT_TRUE(channel.Offer(0, cut));
  const std::vector<Arrival> arrivals = Drain(channel, kSecondNs);
  ASSERT_EQ(arrivals.size(), 4u);
  EXPECT_EQ(arrivals[1].train.packet, 7u);
}

}  // namespace
}  // namespace banyan
