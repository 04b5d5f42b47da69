// Links whose connections are paced at what the policies know of them, at full size, since small chunks have no pace.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"
#include "sim/runs/simulation.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr double kRateBps = 8e6;

// Three nodes with links of 8 Mbit/s and a model of 1.6 MB: each sends four thirds of it over two links, in 1.07 s.
SimulationOptions ThreeNodes() {
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(R"(
nodes: [{name: a}, {name: b}, {name: c}]
links:
  - {between: [a, b], mbps: 8, delay_ms: 10}
  - {between: [b, c], mbps: 8, delay_ms: 10}
  - {between: [a, c], mbps: 8, delay_ms: 10}
topology: {update_seconds: 0.5}
)",
                                                       "overlay.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  SimulationOptions options;
  options.overlay = *std::move(overlay);
  options.overlay.chunks.max_elements = options.overlay.chunks.min_elements = 8192;
  options.tensor_elements = {400'000};
  return options;
}

absl::Duration MeanOf(const SimulationReport& report, size_t first, size_t count) {
  absl::Duration sum;
  for (size_t i = first; i < first + count; ++i) sum += report.rounds.at(i).synchronisation;
  return sum / static_cast<int64_t>(count);
}

TEST(PaceTest, LinksThatHaveBecomeFasterAreNotHeldBackForLong) {
  SimulationOptions options = ThreeNodes();
  options.rounds = 60;
  const absl::Duration at = absl::Seconds(40);
  for (uint32_t from = 1; from <= 3; ++from) {
    for (uint32_t to = 1; to <= 3; ++to) {
      if (from != to) options.link_changes.push_back({at, NodeId(from), NodeId(to), 4 * kRateBps});
    }
  }
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->scale, 1);
  const absl::Duration before = MeanOf(*report, 5, 5);
  EXPECT_GT(before, absl::Seconds(1.06));
  EXPECT_LT(MeanOf(*report, 50, 10), before / 3);
}

// As after packets that overtook each other, which BBR takes for a slow path.
TEST(PaceTest, LinksThatWereSlowForHalfAMinuteAreBackWithinThreeRounds) {
  SimulationOptions options = ThreeNodes();
  options.headers = true;
  options.rounds = 40;
  const absl::Duration falls = absl::Seconds(15);
  const absl::Duration is_back = absl::Seconds(60);
  for (uint32_t from = 1; from <= 3; ++from) {
    for (uint32_t to = 1; to <= 3; ++to) {
      if (from == to) continue;
      options.link_changes.push_back({falls, NodeId(from), NodeId(to), kRateBps / 10});
      options.link_changes.push_back({is_back, NodeId(from), NodeId(to), kRateBps});
    }
  }
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  const absl::Duration usual = MeanOf(*report, 5, 5);
  absl::Duration longest;
  size_t slow_rounds = 0;
  absl::Duration since_back = -is_back;
  for (const SimulationReport::RoundReport& round : report->rounds) {
    longest = std::max(longest, round.synchronisation);
    since_back += round.synchronisation;
    // Another plan may be a little slower, as what it was made for was measured in between.
    if (since_back > absl::ZeroDuration() && round.synchronisation > 1.25 * usual) ++slow_rounds;
  }
  EXPECT_GT(longest, 8 * usual);
  EXPECT_LE(slow_rounds, 3u);
}

}  // namespace
}  // namespace banyan
