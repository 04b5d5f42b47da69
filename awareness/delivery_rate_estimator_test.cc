#include "awareness/delivery_rate_estimator.h"

#include <algorithm>
#include <map>
#include <string>

#include "awareness/testing/synthetic_link.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

class DeliveryRateEstimatorTest : public ::testing::Test {
 protected:
  static constexpr absl::Duration kRoundTrip = absl::Milliseconds(30);

  void Add(const SyntheticLink::Ack& ack) {
    estimator_.Add({ack.size_bytes, ack.sent_at, ack.acked_at, ack.received_at}, kRoundTrip);
    now_ = ack.acked_at;
    if (!estimator_.At(now_).has_value()) return;
    // A lower bound may be anything below.
    if (Estimate().is_backlogged) least_bps_ = std::min(least_bps_, RateBps());
    most_bps_ = std::max(most_bps_, RateBps());
  }
  void Run(SyntheticLink& link, const SyntheticLink::Traffic& traffic, absl::Duration length) {
    link.Run(traffic, length, [this](const SyntheticLink::Ack& ack) { Add(ack); });
  }
  DeliveryRateEstimator::Estimate Estimate() const { return *estimator_.At(now_); }
  double RateBps() const { return Estimate().rate_bps; }
  void ExpectAlwaysWithinTenth(double rate_bps) const {
    EXPECT_GE(least_bps_, 0.9 * rate_bps);
    EXPECT_LE(most_bps_, 1.1 * rate_bps);
  }
  void Restart() {
    estimator_ = DeliveryRateEstimator(40000, 4);
    least_bps_ = 1e18;
    most_bps_ = 0;
  }

  DeliveryRateEstimator estimator_{40000, 4};
  Timestamp now_;
  double least_bps_ = 1e18;
  double most_bps_ = 0;
};

TEST_F(DeliveryRateEstimatorTest, IsRightWithAnyNumberOfChunksInFlight) {
  for (double rate_bps : {2e6, 20e6, 155e6}) {
    for (int in_flight : {2, 3, 4, 8, 32}) {
      for (absl::Duration jitter : {absl::ZeroDuration(), absl::Milliseconds(10)}) {
        SCOPED_TRACE(std::to_string(rate_bps) + " " + std::to_string(in_flight) + " " + absl::FormatDuration(jitter));
        Restart();
        SyntheticLink link({.rate_bps = rate_bps, .jitter = jitter});
        Run(link, {.in_flight = in_flight}, absl::Seconds(20));
        EXPECT_LE(most_bps_, 1.1 * rate_bps);
        const absl::Duration chunks_behind = absl::Seconds((in_flight - 1) * 262144 * 8 / rate_bps);
        if (chunks_behind < kRoundTrip + 2 * jitter) continue;  // too few to keep the link busy
        EXPECT_GE(least_bps_, 0.9 * rate_bps);
        EXPECT_TRUE(Estimate().is_backlogged);
      }
    }
  }
}

TEST_F(DeliveryRateEstimatorTest, ClocksDoNotMatter) {
  for (absl::Duration offset : {absl::Milliseconds(50), absl::Milliseconds(-50), absl::Hours(20), absl::Hours(-20)}) {
    Restart();
    SyntheticLink link({.receiver_offset = offset, .receiver_drift = 200e-6});
    Run(link, {}, absl::Seconds(30));
    EXPECT_NEAR(RateBps(), 20e6, 0.01 * 20e6);
  }
}

TEST_F(DeliveryRateEstimatorTest, BurstsWithRestsBetween) {
  for (int burst : {2, 3, 6, 20}) {
    Restart();
    SyntheticLink link({.jitter = absl::Milliseconds(5)});
    Run(link, {.burst_chunks = burst, .rest = absl::Milliseconds(700)}, absl::Seconds(60));
    EXPECT_NEAR(RateBps(), 20e6, 2e6) << burst;
    EXPECT_TRUE(Estimate().is_backlogged);
  }
}

TEST_F(DeliveryRateEstimatorTest, AStepIsSeenWithinAFewSamples) {
  for (double after_bps : {2e6, 10e6, 40e6, 155e6}) {
    Restart();
    SyntheticLink link({.jitter = absl::Milliseconds(3)});
    link.SetRate(absl::Seconds(20), after_bps);
    Run(link, {}, absl::Seconds(20));
    ExpectAlwaysWithinTenth(20e6);
    Run(link, {}, absl::Seconds(5));
    EXPECT_NEAR(RateBps(), after_bps, 0.1 * after_bps);
  }
}

TEST_F(DeliveryRateEstimatorTest, AWindowThatWaitsForAcksIsNoSlowLink) {
  // Three chunks keep the link busy while acks pass at once: 79 ms of it, and each is acknowledged after 56 ms. When
  // acks wait for 100 ms more, it carries about half of what it could.
  for (absl::Duration offset : {absl::ZeroDuration(), absl::Hours(20)}) {
    Restart();
    SyntheticLink link({.receiver_offset = offset, .acks_wait = absl::Milliseconds(100)});
    Run(link, {.in_flight = 3, .chunk_bytes = 65536}, absl::Seconds(60));
    EXPECT_TRUE(Estimate().is_backlogged);
    ExpectAlwaysWithinTenth(20e6);
  }
}

// One chunk at a time, and an ack that waits for many round trips: the link has been idle meanwhile.
TEST_F(DeliveryRateEstimatorTest, ALoneChunkThatWaitsForItsAckIsNoSlowLink) {
  for (double rate_bps : {2e6, 20e6}) {
    Restart();
    SyntheticLink link({.rate_bps = rate_bps, .acks_wait = absl::Milliseconds(400)});
    Run(link, {.chunk_bytes = 65536}, absl::Seconds(20));
    Run(link, {.in_flight = 1}, absl::Seconds(60));
    EXPECT_TRUE(Estimate().is_backlogged);
    EXPECT_NEAR(RateBps(), rate_bps, 0.1 * rate_bps);
    ExpectAlwaysWithinTenth(rate_bps);
  }
}

// Chunks need 100 ms, and jitter changes that by a fifth. Every other one finds the link idle, and its ack waits.
TEST_F(DeliveryRateEstimatorTest, AChunkWhoseAckWaitsIsNotLate) {
  for (int group = 0; group < 20; ++group) {
    const Timestamp start = kSyntheticStart + absl::Seconds(group);
    const auto add = [&](int sent_ms, int received_ms) {
      const Timestamp received = start + absl::Milliseconds(received_ms);
      const absl::Duration back = absl::Milliseconds(group == 0 ? 15 : 115);
      Add({262144, start + absl::Milliseconds(sent_ms), received, received + back});
    };
    add(0, 115);
    add(20, group % 2 == 0 ? 195 : 235);
  }
  EXPECT_TRUE(Estimate().is_backlogged);
  EXPECT_NEAR(RateBps(), 262144 * 80, 0.05 * 262144 * 80);
}

TEST_F(DeliveryRateEstimatorTest, PausesOfEitherProcessDoNotShow) {
  for (absl::Duration pause : {absl::Milliseconds(50), absl::Milliseconds(500), absl::Seconds(3)}) {
    Restart();
    SyntheticLink link({.jitter = absl::Milliseconds(3)});
    for (int i = 1; i <= 4; ++i) {
      link.PauseReceiver(absl::Seconds(20 * i), pause);
      link.PauseSender(absl::Seconds(20 * i + 10), pause);
    }
    Run(link, {}, absl::Seconds(100));
    ExpectAlwaysWithinTenth(20e6);
  }
}

TEST_F(DeliveryRateEstimatorTest, OneChunkAtATimeOnlyRaises) {
  SyntheticLink link({.jitter = absl::Milliseconds(5)});
  Run(link, {}, absl::Seconds(5));
  EXPECT_NEAR(RateBps(), 20e6, 2e6);
  const SyntheticLink::Traffic alone{.in_flight = 1, .burst_chunks = 1, .rest = absl::Seconds(1)};
  // A lower rate does not show in chunks that took few round trips...
  link.SetRate(absl::Seconds(5), 12e6);
  Run(link, alone, absl::Seconds(10));
  EXPECT_NEAR(RateBps(), 20e6, 2e6);
  EXPECT_GE(link.now() - Estimate().at, absl::Seconds(9));
  // ...but a higher one does,
  link.SetRate(absl::Seconds(15), 40e6);
  Run(link, alone, absl::Seconds(10));
  EXPECT_NEAR(RateBps(), 40e6, 4e6);
  EXPECT_FALSE(Estimate().is_backlogged);
  EXPECT_LE(link.now() - Estimate().at, absl::Seconds(2));
  // ...and one so low that a single chunk kept the link busy for long.
  link.SetRate(absl::Seconds(25), 2e6);
  Run(link, alone, absl::Seconds(10));
  EXPECT_NEAR(RateBps(), 2e6, 0.2e6);
  EXPECT_TRUE(Estimate().is_backlogged);
}

TEST_F(DeliveryRateEstimatorTest, AFewChunksNowAndThenAreEnough) {
  for (double before_bps : {10e6, 40e6}) {
    Restart();
    SyntheticLink link({.rate_bps = before_bps, .jitter = absl::Milliseconds(5)});
    const SyntheticLink::Traffic pairs{.in_flight = 2, .burst_chunks = 2, .rest = absl::Seconds(10)};
    Run(link, pairs, absl::Seconds(60));
    EXPECT_NEAR(RateBps(), before_bps, 0.1 * before_bps);
    link.SetRate(link.now() - kSyntheticStart, 20e6);
    Run(link, pairs, absl::Seconds(60));
    EXPECT_NEAR(RateBps(), 20e6, 2e6);
    EXPECT_TRUE(Estimate().is_backlogged);
    EXPECT_LE(link.now() - estimator_.At(link.now())->at, absl::Seconds(11));
  }
}

TEST_F(DeliveryRateEstimatorTest, LoneChunksConfirm) {
  SyntheticLink link({});
  Run(link, {}, absl::Seconds(5));
  Run(link, {.in_flight = 1, .burst_chunks = 1, .rest = absl::Seconds(1)}, absl::Seconds(60));
  EXPECT_NEAR(RateBps(), 20e6, 1e6);
  EXPECT_LE(link.now() - Estimate().at, absl::Seconds(2));
}

TEST_F(DeliveryRateEstimatorTest, TinyChunksAloneTellNothing) {
  SyntheticLink link({});
  Run(link, {.in_flight = 1, .chunk_bytes = 100, .burst_chunks = 1, .rest = absl::Seconds(1)}, absl::Seconds(20));
  EXPECT_FALSE(estimator_.At(now_).has_value());
}

// 262144 bytes take 100 ms. Every fifth chunk is late by 150 ms, on a connection of its own; a chunk finds the link
// idle now and then.
TEST_F(DeliveryRateEstimatorTest, ChunksThatAreOvertakenBelongWhereTheyPassedTheLink) {
  std::map<Timestamp, DeliveryRateEstimator::Delivery> by_ack;
  Timestamp passed = kSyntheticStart;
  for (int i = 0; i < 400; ++i) {
    const Timestamp sent = i % 3 == 0 ? passed + absl::Milliseconds(20) : passed + -absl::Milliseconds(60);
    passed = std::max(passed, sent) + absl::Milliseconds(100);
    const absl::Duration late = absl::Milliseconds(i % 5 == 0 ? 150 : 0);
    const Timestamp received = passed + absl::Milliseconds(15) + late;
    by_ack[received + absl::Milliseconds(15)] = {262144, sent, received + absl::Milliseconds(15), received};
  }
  for (const auto& [acked_at, delivery] : by_ack) {
    Add({delivery.size_bytes, delivery.sent_at, delivery.received_at, delivery.acked_at});
  }
  EXPECT_NEAR(RateBps(), 262144 * 80.0, 0.1 * 262144 * 80);
  EXPECT_LE(most_bps_, 1.15 * 262144 * 80);
}

// Chunks need 100 ms. The first of all groups but one comes 100 ms late. So the second, which found an idle link too,
// seems to follow it after 30 ms.
TEST_F(DeliveryRateEstimatorTest, AChunkThatIsLateOnAnIdleLinkMakesNoHighRate) {
  for (int group = 0; group < 20; ++group) {
    const Timestamp start = kSyntheticStart + absl::Seconds(group);
    const auto add = [&](int sent_ms, int received_ms) {
      const Timestamp received = start + absl::Milliseconds(received_ms);
      Add({262144, start + absl::Milliseconds(sent_ms), received, received + absl::Milliseconds(15)});
    };
    add(0, group == 0 ? 115 : 215);
    add(130, 245);
    add(150, 345);
    add(160, 445);
  }
  ExpectAlwaysWithinTenth(262144 * 80);
}

// Chunks need 12.5 ms. Small ones and short bursts pass a link that is idle in between. Before each burst a chunk loses
// a packet and comes 30 ms late. The one behind it is late with it, just before a third that comes in time.
TEST_F(DeliveryRateEstimatorTest, ChunksBehindALateOneMakeNoHighRate) {
  for (int group = 0; group < 20; ++group) {
    const Timestamp start = kSyntheticStart + absl::Seconds(group);
    const auto add = [&](double sent_ms, double received_ms, int64_t size_bytes) {
      const Timestamp received = start + absl::Milliseconds(received_ms);
      Add({size_bytes, start + absl::Milliseconds(sent_ms), received, received + absl::Milliseconds(15)});
    };
    add(0, 15.1, 100);
    add(100, group == 0 ? 127.5 : 157.5, 32768);
    add(114, group == 0 ? 141.5 : 157.5, 32768);
    add(134, 161.5, 32768);
    for (int i = 0; i < 8; ++i) add(180, 195 + 12.5 * (i + 1), 32768);
  }
  EXPECT_TRUE(Estimate().is_backlogged);
  ExpectAlwaysWithinTenth(32768 * 8 / 0.0125);
}

// Chunks need 20 ms; each tenth, with which a sample of 200 ms is full, comes 40 ms late with two others behind it.
TEST_F(DeliveryRateEstimatorTest, ChunksOfABunchCountInOneSample) {
  for (int i = 1; i < 200; ++i) {
    const int behind = (i + 1) % 10;  // the one that is held back
    const Timestamp received = kSyntheticStart + absl::Milliseconds(20 * (i + std::max(0, 2 - behind)));
    Add({50000, kSyntheticStart + absl::Milliseconds(20 * i - 200), received, received + absl::Milliseconds(15)});
    if (i < 20 || behind != 3) continue;
    EXPECT_NEAR(RateBps(), 20e6, 0.5e6) << i;
    EXPECT_NEAR(Estimate().fastest_bps, 20e6, 1e6) << i;
  }
}

TEST_F(DeliveryRateEstimatorTest, AReceiverWhoseClockGoesBackIsNoRate) {
  SyntheticLink link({.receiver_offset = absl::Hours(5)});
  Run(link, {}, absl::Seconds(5));
  const Timestamp now = link.now();
  for (int i = 0; i < 10; ++i) {
    Add({262144, now, Timestamp::FromNanoseconds(1000 - i), now + absl::Milliseconds(200)});
  }
  EXPECT_NEAR(RateBps(), 20e6, 2e6);
}

}  // namespace
}  // namespace banyan
