// What becomes of rounds when a link that carries much becomes slow.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/testing/sample_simulations.h"

namespace banyan {
namespace {

absl::Duration MedianOfLast(const SimulationReport& report, size_t rounds) {
  std::vector<absl::Duration> times;
  for (size_t i = report.rounds.size() - rounds; i < report.rounds.size(); ++i) {
    times.push_back(report.rounds[i].synchronisation);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double LoadOf(const SimulationReport::LinkReport& link) { return static_cast<double>(link.bytes) / link.rate_bps; }

void SetRate(OverlayConfig* overlay, NodeId from, NodeId to, double factor) {
  const std::string a = overlay->nodes[from.value() - 1].name;
  const std::string b = overlay->nodes[to.value() - 1].name;
  for (LinkConfig& link : *overlay->links) {
    if (link.a == a && link.b == b) link.a_to_b_bps *= factor;
    if (link.a == b && link.b == a) link.b_to_a_bps *= factor;
  }
}

class SlowLinkTest : public testing::TestWithParam<const char*> {};

TEST_P(SlowLinkTest, ATenthOfTheBusiestLinksRateIsPlannedAround) {
  SimulationOptions options = Internet2Simulation(60000000, 4);
  options.overlay.topology.planner = GetParam();
  const absl::StatusOr<SimulationReport> before = Simulate(options);
  ASSERT_TRUE(before.ok()) << before.status();
  const auto busiest = std::max_element(before->links.begin(), before->links.end(),
                                        [](const auto& a, const auto& b) { return LoadOf(a) < LoadOf(b); });
  const double rate_bps = busiest->rate_bps;

  // What a plan for the new rates makes of them.
  SimulationOptions fresh_options = options;
  SetRate(&fresh_options.overlay, busiest->from, busiest->to, 0.1);
  fresh_options.rounds = 8;
  const absl::StatusOr<SimulationReport> fresh = Simulate(fresh_options);
  ASSERT_TRUE(fresh.ok()) << fresh.status();

  options.rounds = 24;
  options.link_changes = {{absl::Seconds(30), busiest->from, busiest->to, rate_bps / 10}};
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rounds.size(), 24u);
  EXPECT_TRUE(report->replicas_identical);
  EXPECT_GE(report->policies, 2u);
  EXPECT_LT(absl::ToDoubleSeconds(MedianOfLast(*report, 5)), 1.1 * absl::ToDoubleSeconds(MedianOfLast(*fresh, 5)))
      << "without the change " << before->synchronisation_p50;
}

INSTANTIATE_TEST_SUITE_P(Planners, SlowLinkTest, testing::Values("packed", "fapt"));

}  // namespace
}  // namespace banyan
