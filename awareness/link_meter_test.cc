#include "awareness/link_meter.h"

#include "awareness/testing/synthetic_link.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// A meter on a synthetic link, with a heartbeat each second.
class Bench {
 public:
  explicit Bench(SyntheticLink::Options options) : link(options), options_(options) {}

  void Heartbeat(Timestamp now) {
    const Timestamp back = now;
    const Timestamp sent = back + -link.OneWay();
    const Timestamp received = sent + absl::Milliseconds(-300);
    const Timestamp first = received + -link.OneWay();
    meter.OnHeartbeat({link.ReceiverClock(sent), PeerHeartbeat::Echo{first, link.ReceiverClock(received)}}, now);
  }
  void Run(const SyntheticLink::Traffic& traffic, absl::Duration length) {
    link.Run(traffic, length, [this](const SyntheticLink::Ack& ack) {
      for (; next_heartbeat_ <= ack.acked_at; next_heartbeat_ = next_heartbeat_ + absl::Seconds(1)) {
        Heartbeat(next_heartbeat_);
      }
      meter.OnAck({ack.size_bytes, ack.sent_at, ack.received_at, false}, ack.acked_at);
    });
  }
  LinkMeasurement Measured() const { return meter.Measure(link.now()).value_or(LinkMeasurement()); }

  SyntheticLink link;
  LinkMeter meter{LinkMeter::Settings()};

 private:
  SyntheticLink::Options options_;
  Timestamp next_heartbeat_ = kSyntheticStart + absl::Seconds(1);
};

TEST(LinkMeterTest, MeasuresRateDelayAndClock) {
  for (absl::Duration offset : {absl::Milliseconds(50), absl::Milliseconds(-50), absl::Hours(20), absl::Hours(-20)}) {
    for (double drift : {-200e-6, 0.0, 200e-6}) {
      Bench bench({.jitter = absl::Milliseconds(4), .receiver_offset = offset, .receiver_drift = drift});
      bench.Run({}, absl::Seconds(60));
      const LinkMeasurement measured = bench.Measured();
      EXPECT_NEAR(measured.rate_bps, 20e6, 2e6);
      EXPECT_TRUE(measured.is_backlogged);
      EXPECT_NEAR(absl::ToDoubleMilliseconds(measured.delay), 15, 3);
      EXPECT_LE(measured.age, absl::Seconds(1));
      EXPECT_NEAR(absl::ToDoubleMilliseconds(measured.clock_offset - offset), drift * 60e3, 3);
      EXPECT_LE(measured.clock_uncertainty, absl::Milliseconds(25));
      // Eight chunks in flight: Eq. 14 reads an eighth.
      EXPECT_NEAR(measured.one_way_delay_rate_bps, 20e6 / 8, 0.5e6);
    }
  }
}

TEST(LinkMeterTest, TheFastestFallsOnlyWithTheLinkItself) {
  Bench bench({.jitter = absl::Milliseconds(20)});
  EXPECT_EQ(bench.meter.FastestBps(bench.link.now()), std::nullopt);
  bench.link.PauseReceiver(absl::Seconds(28), absl::Milliseconds(300));
  bench.link.SetRate(absl::Seconds(30), 5e6);
  bench.Run({}, absl::Seconds(29));
  EXPECT_GE(*bench.meter.FastestBps(bench.link.now()), bench.Measured().rate_bps);
  EXPECT_GE(*bench.meter.FastestBps(bench.link.now()), 0.98 * 20e6);
  // Five samples of four chunks take 8.4 s at that rate.
  bench.Run({}, absl::Seconds(1 + 9));
  EXPECT_NEAR(*bench.meter.FastestBps(bench.link.now()), 5e6, 0.5e6);
  // A chunk at a time says only what the link does at least.
  Bench slow({});
  slow.Run({.in_flight = 1}, absl::Seconds(20));
  EXPECT_EQ(slow.meter.FastestBps(slow.link.now()), std::nullopt);
}

TEST(LinkMeterTest, ASlowStartIsNoSlowLink) {
  Bench bench({});
  // Messages without size do not make a transport look for the rate.
  bench.Run({.in_flight = 1, .chunk_bytes = 0, .burst_chunks = 1, .rest = absl::Seconds(1)}, absl::Seconds(20));
  bench.link.SetRate(absl::Seconds(20), 8e6);
  bench.link.SetRate(absl::Seconds(20) + LinkMeter::kStart, 20e6);
  bench.Run({}, LinkMeter::kStart - absl::Seconds(1));
  EXPECT_NEAR(bench.Measured().rate_bps, 8e6, 0.8e6);
  EXPECT_FALSE(bench.Measured().is_backlogged);
  EXPECT_EQ(bench.meter.FastestBps(bench.link.now()), std::nullopt);
  // One sample after the start: neither those before nor the chunks in front of it count.
  bench.Run({}, absl::Seconds(1.9));
  EXPECT_NEAR(bench.Measured().rate_bps, 20e6, 2e6);
  EXPECT_TRUE(bench.Measured().is_backlogged);
  bench.Run({}, absl::Seconds(2));
  EXPECT_NE(bench.meter.FastestBps(bench.link.now()), std::nullopt);
}

TEST(LinkMeterTest, WhatTheStartShowedIsForgotten) {
  Bench bench({});
  const absl::Duration rest = absl::Milliseconds(200);
  bench.link.SetRate(LinkMeter::kStart, 8e6);
  bench.Run({}, LinkMeter::kStart - rest);
  EXPECT_NEAR(bench.Measured().rate_bps, 20e6, 2e6);
  // Beside the samples of the start, those of two seconds would count half.
  bench.Run({}, rest + absl::Seconds(2));
  EXPECT_NEAR(bench.Measured().rate_bps, 8e6, 0.8e6);
}

TEST(LinkMeterTest, DelaysAreWholeNanosecondsAsTheyTravel) {
  for (int i = 1; i <= 8; ++i) {
    Bench bench({.receiver_drift = i * 1e-8});
    bench.Run({}, absl::Seconds(3));
    const absl::Duration measured = bench.Measured().delay;
    EXPECT_GT(measured, absl::ZeroDuration());
    EXPECT_EQ(measured, absl::Nanoseconds(absl::ToInt64Nanoseconds(measured)));
  }
}

TEST(LinkMeterTest, Eq14IsRightForOneChunkAtATimeOnAShortLink) {
  Bench bench({.delay = absl::Milliseconds(1), .receiver_offset = absl::Milliseconds(50)});
  bench.Run({.in_flight = 1}, absl::Seconds(20));
  EXPECT_NEAR(bench.Measured().one_way_delay_rate_bps, 20e6, 1e6);
  EXPECT_NEAR(bench.Measured().rate_bps, 20e6, 1e6);
}

// Eight chunks in flight, so that an eighth of the rate is read; from the start on, as NETSTORM does.
TEST(LinkMeterTest, Eq14DecidesWhereItIsAskedFor) {
  Bench bench({.receiver_offset = absl::Hours(3)});
  bench.meter.Configure({.estimator = RateEstimator::kOneWayDelay});
  EXPECT_EQ(bench.meter.FastestBps(bench.link.now()), std::nullopt);
  bench.Run({}, absl::Seconds(10));
  const LinkMeasurement measured = bench.Measured();
  EXPECT_NEAR(measured.rate_bps, 20e6 / 8, 0.5e6);
  EXPECT_EQ(measured.rate_bps, measured.one_way_delay_rate_bps);
  EXPECT_EQ(bench.meter.FastestBps(bench.link.now()), measured.rate_bps);
  EXPECT_TRUE(measured.is_backlogged);
  EXPECT_LE(measured.age, absl::Seconds(1));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(measured.delay), 15, 3);
  bench.meter.Configure({.estimator = RateEstimator::kDelivery});
  EXPECT_FALSE(bench.meter.Measure(bench.link.now()).has_value());
}

TEST(LinkMeterTest, Eq14CountsChunksOfTheProbesSizeAndAsManyAsAskedFor) {
  LinkMeter::Settings settings;
  settings.estimator = RateEstimator::kOneWayDelay;
  settings.probe_chunks = 50;
  Bench bench({});
  bench.meter.Configure(settings);
  // A chunk takes 105 ms.
  bench.Run({}, absl::Seconds(4));
  EXPECT_FALSE(bench.meter.Measure(bench.link.now()).has_value());
  bench.Run({}, absl::Seconds(4));
  EXPECT_TRUE(bench.meter.Measure(bench.link.now()).has_value());
  settings.probe_chunk_bytes = 262144 + 1;
  settings.probe_chunks = 1;
  bench.meter.Configure(settings);
  bench.Run({}, absl::Seconds(4));
  EXPECT_FALSE(bench.meter.Measure(bench.link.now()).has_value());
}

TEST(LinkMeterTest, IsSilentBeforeItKnowsTheClock) {
  SyntheticLink link({});
  LinkMeter meter{LinkMeter::Settings()};
  EXPECT_FALSE(meter.Measure(link.now()).has_value());
  link.Run({}, absl::Milliseconds(900), [&](const SyntheticLink::Ack& ack) {
    meter.OnAck({ack.size_bytes, ack.sent_at, ack.received_at, false}, ack.acked_at);
  });
  EXPECT_FALSE(meter.Measure(link.now()).has_value());
}

TEST(LinkMeterTest, EstimatesAge) {
  Bench bench({});
  bench.Run({}, absl::Seconds(10));
  const std::optional<LinkMeasurement> later = bench.meter.Measure(bench.link.now() + absl::Minutes(5));
  ASSERT_TRUE(later.has_value());
  EXPECT_GE(later->age, absl::Minutes(5));
  EXPECT_LE(later->age, absl::Minutes(5) + absl::Seconds(2));
  EXPECT_GT(later->clock_uncertainty, bench.Measured().clock_uncertainty);
}

TEST(LinkMeterTest, SaysOnWhichKindOfPathTheNewestSampleTravelled) {
  Bench bench({});
  bench.Run({}, absl::Seconds(5));
  EXPECT_EQ(bench.Measured().source, LinkMeasurement::Source::kPrimary);
  bench.meter.OnAck({262144, bench.link.now(), bench.link.now(), true}, bench.link.now());
  EXPECT_EQ(bench.Measured().source, LinkMeasurement::Source::kAuxiliary);
}

TEST(LinkMeterTest, OtherSettingsStartAnew) {
  Bench bench({});
  bench.Run({}, absl::Seconds(5));
  bench.meter.Configure(LinkMeter::Settings());
  EXPECT_TRUE(bench.meter.Measure(bench.link.now()).has_value());
  bench.meter.Configure({.probe_chunk_bytes = 1 << 30});
  EXPECT_FALSE(bench.meter.Measure(bench.link.now()).has_value());
}

// Whatever times a neighbour invents, what comes out can be sent and read.
TEST(LinkMeterTest, AbsurdTimesGiveNoAbsurdNumbers) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    LinkMeter meter{LinkMeter::Settings()};
    Timestamp now = kSyntheticStart;
    const auto any_time = [&] {
      const int64_t most_ns = int64_t{1} << (random.Chance(0.3) ? random.Between(1, 61) : 47);
      return Timestamp::FromNanoseconds(random.Between(0, most_ns));
    };
    for (int i = 0; i < 100; ++i) {
      now = now + absl::Nanoseconds(random.Between(0, 100'000'000));
      const Timestamp sent = now + -absl::Nanoseconds(random.Between(0, 1'000'000'000));
      if (random.Chance(0.3)) {
        meter.OnHeartbeat({any_time(), PeerHeartbeat::Echo{random.Chance(0.5) ? sent : any_time(), any_time()}}, now);
      } else {
        meter.OnAck({random.Between(0, 1 << 20), sent, any_time(), false}, now);
      }
      const std::optional<LinkMeasurement> measured = meter.Measure(now);
      if (!measured.has_value()) continue;
      EXPECT_GE(measured->rate_bps, 1e3);
      EXPECT_LE(measured->rate_bps, 1e13);
      EXPECT_GE(measured->one_way_delay_rate_bps, 0);
      EXPECT_LE(measured->one_way_delay_rate_bps, 1e13);
      EXPECT_GE(measured->delay, absl::ZeroDuration());
      EXPECT_GE(measured->age, absl::ZeroDuration());
      EXPECT_GE(measured->clock_uncertainty, absl::ZeroDuration());
    }
  }
}

TEST(LinkMeterTest, TellsTheNewestSampleFromTheFirstOneOn) {
  Bench bench({});
  EXPECT_EQ(bench.meter.NewestSample(bench.link.now()), std::nullopt);
  EXPECT_FALSE(bench.meter.TakeNews());
  bench.Run({}, absl::Seconds(3));
  ASSERT_TRUE(bench.meter.NewestSample(bench.link.now()).has_value());
  EXPECT_NEAR(bench.meter.NewestSample(bench.link.now())->rate_bps, 20e6, 2e6);
  EXPECT_TRUE(bench.meter.TakeNews());
  EXPECT_FALSE(bench.meter.TakeNews()) << "once";
  bench.meter.Configure({.estimator = RateEstimator::kOneWayDelay});
  bench.Run({}, absl::Seconds(3));
  EXPECT_EQ(bench.meter.NewestSample(bench.link.now()), std::nullopt);
}

}  // namespace
}  // namespace banyan
