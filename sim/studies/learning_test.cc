// Jobs that are told little of their links, beside those that are told all: how soon they are as fast.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/runs/simulation.h"
#include "sim/testing/sample_simulations.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr int64_t kModelBytes = 46'000'000;
constexpr uint64_t kRounds = 10;
constexpr size_t kFirstRounds = 6;
constexpr size_t kLearned = 3;  // position of the fourth round

std::vector<double> Seconds(const SimulationOptions& options) {
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? RoundSeconds(*report) : std::vector<double>();
}

double Sum(const std::vector<double>& seconds, size_t count) {
  return std::accumulate(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

double SlowestFrom(const std::vector<double>& seconds, size_t first) {
  return *std::max_element(seconds.begin() + static_cast<std::ptrdiff_t>(first), seconds.end());
}

class LearningTest : public ::testing::Test {
 protected:
  static SimulationOptions Internet2(const ToldLinks& told) {
    SimulationOptions options = Internet2Simulation(kModelBytes, kRounds);
    options.headers = true;
    options.told = told;
    return options;
  }

  void ExpectLearns(const ToldLinks& told) {
    const std::vector<double> seconds = Seconds(Internet2(told));
    ASSERT_EQ(seconds.size(), kRounds);
    EXPECT_LE(SlowestFrom(seconds, kLearned), 1.1 * informed_);
    EXPECT_LE(Sum(seconds, kFirstRounds), 1.6 * kFirstRounds * informed_);
  }

  const double informed_ = SlowestFrom(Seconds(Internet2({})), 0);
};

TEST_F(LearningTest, AJobThatIsToldNoRatesFindsThemInThreeRounds) { ExpectLearns({ToldLinks::Kind::kNone}); }

TEST_F(LearningTest, AJobThatIsToldWrongRatesCorrectsThemInThreeRounds) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    ExpectLearns({ToldLinks::Kind::kWrong, seed});
  }
}

// Every pair of the nine sites has a path over the network's thirteen links, and the job is told the sites alone.
TEST(RoutedInternet2Test, AJobThatIsToldTheNodesFindsWhatTheirPathsShareWithin70Seconds) {
  const uint64_t seeds = std::getenv("BANYAN_LONG") != nullptr ? 5 : 1;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    SimulationOptions options = RoutedInternet2(seed, /*rounds=*/2).options;
    const double informed = SlowestFrom(Seconds(options), 0);
    options.rounds = 14;
    options.told = {ToldLinks::Kind::kNodes};
    options.hides_caps = true;
    double now = 0;
    for (const double seconds : Seconds(options)) {
      std::cout << seconds / informed << " ";
      EXPECT_TRUE(now < 70 || seconds <= 1.3 * informed) << seconds << " s at " << now << " s";
      now += seconds;
    }
    std::cout << "times " << informed << " s\n";
    EXPECT_GE(now, 80);
  }
}

// Three nodes with links of 40 Mbit/s, of which two have their rates changed at 20 s, between two rounds or within one.
class ChangedLinkTest : public ::testing::Test {
 protected:
  static constexpr double kRateBps = 40e6;
  static constexpr double kChangeSeconds = 20;

  // Returns how long the rounds take that end after the change.
  static std::vector<double> RoundsAfter(double rate_bps) {
    absl::StatusOr<OverlayConfig> overlay = ParseOverlay(R"(
nodes: [{name: a}, {name: b}, {name: c}]
links:
  - {between: [a, b], mbps: 40, delay_ms: 10}
  - {between: [b, c], mbps: 40, delay_ms: 10}
)",
                                                         "overlay.yaml");
    EXPECT_TRUE(overlay.ok()) << overlay.status();
    SimulationOptions options;
    options.overlay = *std::move(overlay);
    options.tensor_elements = {2'500'000};
    options.rounds = 60;
    for (const auto& [from, to] : {std::pair(1, 2), {2, 1}, {2, 3}, {3, 2}}) {
      options.link_changes.push_back({absl::Seconds(kChangeSeconds), NodeId(from), NodeId(to), rate_bps});
    }
    double now = 0;
    std::vector<double> after;
    for (const double seconds : Seconds(options)) {
      now += seconds;
      if (now > kChangeSeconds) after.push_back(seconds);
    }
    return after;
  }
};

TEST_F(ChangedLinkTest, LinksThatAreTenTimesFasterAreUsedAtTheirRateWithinThreeRounds) {
  const std::vector<double> after = RoundsAfter(10 * kRateBps);
  ASSERT_GT(after.size(), 10u);
  const double usual = after[after.size() - 3];
  // The first has begun before.
  EXPECT_LE(after[3], 1.15 * usual);
  EXPECT_LE(SlowestFrom(after, 3), 1.2 * usual);
}

TEST_F(ChangedLinkTest, LinksThatAreTenTimesSlowerAreNoSlowerThanThat) {
  const std::vector<double> before = RoundsAfter(kRateBps);
  const std::vector<double> after = RoundsAfter(kRateBps / 10);
  ASSERT_GT(after.size(), 10u);
  EXPECT_LE(SlowestFrom(after, 0), 1.1 * 10 * before[5]);
}

}  // namespace
}  // namespace banyan
