#include "scheduler/policy/traffic_log.h"

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr NodeId kA(1), kB(2), kC(3);

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// From node 1 to 2 is link 0, from 1 to 3 is link 1.
class TrafficLogTest : public testing::Test {
 protected:
  void Report(double at_s, NodeId from, NodeId to, uint64_t sent_bytes,
              std::optional<LinkMeasurement> measurement = {}) {
    NodeReport::Link link;
    link.to = to;
    link.sent_bytes = sent_bytes;
    link.measurement = measurement;
    log_.Accept(At(at_s), from, {link}, view_);
  }
  static LinkMeasurement Backlogged(double rate_bps, double age_s) {
    LinkMeasurement measurement;
    measurement.rate_bps = rate_bps;
    measurement.is_backlogged = true;
    measurement.age = absl::Seconds(age_s);
    return measurement;
  }
  // The traffic of a link in the next interval; nothing when the interval is not over, or has nothing of it.
  std::optional<LinkTraffic> Next(double at_s, size_t link = 0) {
    const std::optional<std::vector<LinkTraffic>> interval = log_.Next(At(at_s));
    for (const LinkTraffic& traffic : interval.value_or(std::vector<LinkTraffic>())) {
      if (traffic.link == link) return traffic;
    }
    return std::nullopt;
  }

  NetworkView view_ = CompleteNetwork(3, 10);
  TrafficLog log_{absl::Seconds(1)};
};

TEST_F(TrafficLogTest, ReportsOfAllNodesAreOfTheSameIntervals) {
  Report(0, kA, kB, 0);
  Report(0.5, kB, kA, 0);
  EXPECT_EQ(Next(0.5), std::nullopt);
  Report(1, kA, kB, 1000);
  Report(1.5, kB, kA, 3000);
  Report(2, kA, kB, 3000);
  EXPECT_EQ(Next(2.4), std::nullopt);
  const std::optional<std::vector<LinkTraffic>> interval = log_.Next(At(2.5));
  ASSERT_TRUE(interval.has_value());
  ASSERT_EQ(interval->size(), 2u);
  EXPECT_EQ((*interval)[0].link, 0u);
  EXPECT_NEAR((*interval)[0].rate_bps, 8000, 1);
  EXPECT_EQ((*interval)[1].link, 2u);
  EXPECT_NEAR((*interval)[1].rate_bps, 12000, 1);
}

TEST_F(TrafficLogTest, ALinkIsBusyThatCarriesItsMeasuredRateAllTheTime) {
  Report(0, kA, kB, 0);
  Report(1, kA, kB, 1000, Backlogged(9000, 0.3));
  Report(2, kA, kB, 2000, Backlogged(16000, 0.3));
  Report(3, kA, kB, 3000, Backlogged(9000, 1.5));
  EXPECT_TRUE(Next(2.5)->is_busy);
  EXPECT_FALSE(Next(3.5)->is_busy);
  EXPECT_FALSE(Next(4.5)->is_busy);
}

TEST_F(TrafficLogTest, WhatComesAfterASilenceWasCarriedAtItsEnd) {
  Report(0, kA, kB, 0);
  Report(5, kA, kB, 1000);
  EXPECT_NEAR(Next(10)->rate_bps, 0, 1);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(Next(10)->rate_bps, 0, 1);
  EXPECT_NEAR(Next(10)->rate_bps, 8000, 1);
  EXPECT_NEAR(Next(10)->rate_bps, 0, 1);
}

TEST_F(TrafficLogTest, NothingIsKnownOfALinkWhoseSenderHasStartedAgain) {
  Report(0, kA, kB, 5000);
  Report(1, kA, kB, 100);
  EXPECT_NEAR(Next(2.5)->rate_bps, 0, 1);
  Report(2, kA, kB, 1100);
  EXPECT_NEAR(Next(3.5)->rate_bps, 8000, 1);
}

TEST_F(TrafficLogTest, LinksThatAreNotInTheViewAreLeftOut) {
  Report(0, kA, NodeId(9), 0);
  Report(2, kA, NodeId(9), 1000);
  const std::optional<std::vector<LinkTraffic>> interval = log_.Next(At(3));
  ASSERT_TRUE(interval.has_value());
  EXPECT_TRUE(interval->empty());
}

TEST_F(TrafficLogTest, AfterALongPauseThereIsNothingToCatchUpWith) {
  Report(0, kA, kC, 0);
  Report(1000, kA, kC, 1000);
  int intervals = 0;
  while (log_.Next(At(1002)).has_value()) ++intervals;
  EXPECT_LE(intervals, 3);
}

}  // namespace
}  // namespace banyan
