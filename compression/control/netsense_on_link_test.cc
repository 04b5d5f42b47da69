// NetSenseController in a closed loop with a link: what the rule is for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compression/control/netsense_controller.h"
#include "compression/control/round_window.h"
#include "compression/testing/testing_link.h"

namespace banyan {
namespace {

constexpr double kLeastRatio = 0.005;

std::vector<double> Ratios(const std::vector<RoundObservation>& rounds) {
  std::vector<double> ratios;
  for (const RoundObservation& round : rounds) ratios.push_back(round.ratio);
  return ratios;
}

std::vector<double> Seconds(const std::vector<RoundObservation>& rounds) {
  std::vector<double> seconds;
  for (const RoundObservation& round : rounds) seconds.push_back(absl::ToDoubleSeconds(round.duration));
  return seconds;
}

double Least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }
double Greatest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }
double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Path {
  double rate_mbps;
  double model_megabytes;
  int round_trip_ms;

  double round_trip_seconds() const { return round_trip_ms * 1e-3; }
  // Of a round with that ratio on an idle link of `share` of the rate.
  double RoundSeconds(double ratio, double share) const {
    return round_trip_seconds() + ratio * model_megabytes * 8 / (rate_mbps * share);
  }
  // Of rounds of 1.8 RTprop, where RTprop comes from a round with the ratio `least`.
  double RatioThatFills(double least) const {
    return (1.8 * RoundSeconds(least, 1) - round_trip_seconds()) * rate_mbps / (model_megabytes * 8);
  }
  TestingLink::Options Options() const {
    return {.rate_bps = rate_mbps * 1e6,
            .round_trip = absl::Milliseconds(round_trip_ms),
            .model_bytes = static_cast<int64_t>(model_megabytes * 1e6)};
  }
};

std::string NameOf(const ::testing::TestParamInfo<Path>& info) {
  return std::to_string(static_cast<int>(info.param.rate_mbps)) + "Mbps" +
         std::to_string(static_cast<int>(info.param.model_megabytes)) + "MB" +
         std::to_string(info.param.round_trip_ms) + "ms";
}

std::vector<Path> AllPaths() {
  std::vector<Path> paths;
  for (double rate_mbps : {200, 500, 800, 2000}) {
    for (double model_megabytes : {1.0, 4.0, 46.2, 244.0}) {
      for (int round_trip_ms : {30, 100}) paths.push_back({rate_mbps, model_megabytes, round_trip_ms});
    }
  }
  return paths;
}

class DropAndRecoveryTest : public ::testing::TestWithParam<Path> {};

// The rate falls to a tenth and comes back. All rounds from the tenth after the drop are looked at.
TEST_P(DropAndRecoveryTest, SettlesWithinTenRoundsAndClimbsBack) {
  const Path path = GetParam();
  TestingLink link(path.Options());
  NetSenseController controller({});
  link.Run(controller, 40);
  const std::vector<RoundObservation> before = link.Run(controller, 20);
  const double before_seconds = Median(Seconds(before));
  const double before_ratio = Median(Ratios(before));
  link.set_rate_bps(path.rate_mbps * 1e5);
  link.Run(controller, 10);
  const std::vector<RoundObservation> after = link.Run(controller, 40);
  const double after_seconds = Greatest(Seconds(after));
  if (path.RoundSeconds(kLeastRatio, 0.1) > 1.5 * before_seconds) {
    // No ratio that the rule may take is small enough; rounds take what they do with the least one.
    EXPECT_EQ(Greatest(Ratios(after)), kLeastRatio);
    EXPECT_LE(after_seconds, 1.1 * path.RoundSeconds(kLeastRatio, 0.1));
  } else if (before_ratio < 1 || before_seconds >= 1.27 * path.round_trip_seconds()) {
    EXPECT_LE(after_seconds, 1.5 * before_seconds);
    EXPECT_LE(Greatest(Ratios(after)), 1.25 * Least(Ratios(after)));
  } else {
    // The link was not filled before: the rule fills it now, up to 0.9 of its bandwidth-delay product.
    EXPECT_LE(after_seconds, 1.9 * before_seconds);
  }
  link.set_rate_bps(path.rate_mbps * 1e6);
  const double least_ratio = Least(Ratios(link.Run(controller, 110)));
  // Smaller rounds than before on the fast link may have shown a shorter RTprop.
  EXPECT_GE(controller.ratio(), 0.98 * std::min(before_ratio, path.RatioThatFills(least_ratio)));
}

// 1.8 RTprop, where the model is large enough and the least ratio small enough. RTprop is the first round's time.
TEST_P(DropAndRecoveryTest, FillsTheBandwidthDelayProduct) {
  const Path path = GetParam();
  TestingLink link(path.Options());
  NetSenseController controller({});
  link.Run(controller, 110);
  const std::vector<RoundObservation> settled = link.Run(controller, 20);
  const double propagation = path.RoundSeconds(0.01, 1);
  EXPECT_LE(Greatest(Seconds(settled)), 1.9 * propagation);
  if (controller.ratio() < 1) {
    EXPECT_GE(Least(Seconds(settled)), 1.75 * propagation);
  }
}

TEST_P(DropAndRecoveryTest, NoiseChangesLittle) {
  const Path path = GetParam();
  TestingLink::Options options = path.Options();
  options.jitter = 0.1;
  options.size_noise = 0.05;
  TestingLink link(options);
  NetSenseController controller({});
  link.Run(controller, 40);
  const double before_seconds = Median(Seconds(link.Run(controller, 40)));
  link.set_rate_bps(path.rate_mbps * 1e5);
  link.Run(controller, 10);
  const std::vector<RoundObservation> after = link.Run(controller, 60);
  if (path.RoundSeconds(kLeastRatio, 0.1) > 1.3 * before_seconds) {
    // Hardly a ratio that the rule may take is small enough.
    EXPECT_LE(Median(Ratios(after)), 1.5 * kLeastRatio);
    return;
  }
  const bool was_filled = before_seconds >= 1.4 * path.round_trip_seconds();
  EXPECT_LE(Median(Seconds(after)), (was_filled ? 1.3 : 1.9) * before_seconds);
  EXPECT_LE(Greatest(Seconds(after)), (was_filled ? 1.5 : 2.1) * before_seconds);
}

INSTANTIATE_TEST_SUITE_P(Paths, DropAndRecoveryTest, ::testing::ValuesIn(AllPaths()), NameOf);

// The paper's second scenario: 2000 to 200 Mbit/s in steps of 200, with its ResNet18.
TEST(NetSenseOnLinkTest, DegradingNetwork) {
  TestingLink link({.rate_bps = 2000e6});
  NetSenseController controller({});
  link.Run(controller, 40);
  const double before_seconds = Median(Seconds(link.Run(controller, 10)));
  const double before_ratio = controller.ratio();
  for (double rate_mbps = 1800; rate_mbps >= 200; rate_mbps -= 200) {
    link.set_rate_bps(rate_mbps * 1e6);
    link.Run(controller, 10);
    const std::vector<RoundObservation> settled = link.Run(controller, 10);
    EXPECT_LE(Greatest(Seconds(settled)), 1.5 * before_seconds) << rate_mbps;
    EXPECT_NEAR(controller.ratio() / before_ratio, rate_mbps / 2000, 0.35 * rate_mbps / 2000) << rate_mbps;
  }
}

// Its third scenario: other traffic fills the queue for some rounds, now and then.
TEST(NetSenseOnLinkTest, CompetingTraffic) {
  TestingLink link({.rate_bps = 500e6});
  NetSenseController controller({});
  link.Run(controller, 40);
  const double alone = controller.ratio();
  for (int burst = 0; burst < 5; ++burst) {
    for (int i = 0; i < 6; ++i) {
      link.AddToQueue(4'000'000);  // 64 ms
      link.Run(controller, 1);
    }
    EXPECT_LE(controller.ratio(), 0.5 * alone);
    link.Run(controller, 20);
    EXPECT_GE(controller.ratio(), 0.75 * alone);
  }
}

TEST(NetSenseOnLinkTest, AQueueTooShortForTheRampEndsIt) {
  TestingLink link({.rate_bps = 800e6, .model_bytes = 4'000'000, .queue_bytes = 1'000'000});
  NetSenseController controller({});
  link.Run(controller, 10);
  EXPECT_FALSE(controller.is_starting_up());
}

TEST(NetSenseOnLinkTest, RoundsThatDrainDisturbNoOther) {
  TestingLink link({.rate_bps = 500e6});
  NetSenseController controller({.propagation_rounds = 20});
  link.Run(controller, 100);
  std::vector<double> ratios = Ratios(link.Run(controller, 100));
  std::sort(ratios.begin(), ratios.end());
  EXPECT_EQ(ratios[4], kLeastRatio);  // once in a window
  EXPECT_GT(ratios[5], 0.03);
  EXPECT_LE(ratios[99], 1.01 * ratios[5]);
}

// A longer way is no queue. It looks like one until the old propagation time is forgotten.
TEST(NetSenseOnLinkTest, ALongerPathIsLearned) {
  TestingLink link({.rate_bps = 200e6, .round_trip = absl::Milliseconds(30), .model_bytes = 4'000'000});
  NetSenseController controller({.propagation_rounds = 50});
  link.Run(controller, 45);
  const double before = controller.ratio();
  link.set_round_trip(absl::Milliseconds(100));
  link.Run(controller, 30);
  EXPECT_LE(controller.ratio(), before);
  link.Run(controller, 120);
  EXPECT_GE(std::max(controller.ratio(), Greatest(Ratios(link.Run(controller, 2)))), 2.5 * before);
}

// The rule as the paper prints it, without a word more: greatest EBB and least RTT of the last `rounds`.
class PrintedRule : public RatioController {
 public:
  explicit PrintedRule(int64_t rounds) : bandwidths_(rounds), round_trips_(rounds) {}
  void Observe(const RoundObservation& round) override {
    const double round_trip = absl::ToDoubleSeconds(round.duration);
    bandwidths_.Add(static_cast<double>(round.sent_bytes) / round_trip);
    round_trips_.Add(round_trip);
    const double product = bandwidths_.Greatest() * round_trips_.Least();
    starts_ = starts_ && round_trip <= 2 * round_trips_.Least() && ratio_ < 1;
    if (starts_) {
      ratio_ = std::min(1.0, ratio_ + 0.05);
    } else {
      const bool exceeds = static_cast<double>(round.sent_bytes) > 0.9 * product;
      ratio_ = exceeds ? std::max(kLeastRatio, ratio_ / 2) : std::min(1.0, ratio_ + 0.01);
    }
  }
  double ratio() const override { return ratio_; }

 private:
  RoundWindow bandwidths_;
  RoundWindow round_trips_;
  bool starts_ = true;
  double ratio_ = 0.01;
};

TEST(PrintedRuleTest, WithAWindowCompressesWhateverTheLink) {
  for (const Path& path : AllPaths()) {
    TestingLink link(path.Options());
    PrintedRule printed(10);
    link.Run(printed, 100);
    EXPECT_LE(Greatest(Ratios(link.Run(printed, 100))), 0.16) << path.rate_mbps << " " << path.model_megabytes;
  }
}

// 2 Gbit/s and 100 ms are a product of 25 MB: a model of 4 MB needs no compression at all.
TEST(NetSenseOnLinkTest, WhatFitsIsNotCompressed) {
  TestingLink link({.rate_bps = 2e9, .round_trip = absl::Milliseconds(100), .model_bytes = 4'000'000});
  NetSenseController controller({});
  link.Run(controller, 21);
  EXPECT_EQ(Least(Ratios(link.Run(controller, 200))), 1);
}

TEST(PrintedRuleTest, WithoutAWindowADropIsNotSeen) {
  PrintedRule printed(1 << 30);
  TestingLink link({.rate_bps = 500e6});
  link.Run(printed, 60);
  const double before_seconds = Median(Seconds(link.Run(printed, 40)));
  link.set_rate_bps(50e6);
  link.Run(printed, 10);
  EXPECT_GE(Median(Seconds(link.Run(printed, 40))), 4 * before_seconds);
}

}  // namespace
}  // namespace banyan
