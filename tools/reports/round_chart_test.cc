#include "tools/reports/round_chart.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

using Step = RoundRecords::Step;

constexpr Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

// n2 sends ten chunks to n1, 100 ms for each, and hears the results at once.
JobTrace TwoNodes() {
  JobTrace trace;
  trace.names = {{NodeId(1), "n1"}, {NodeId(2), "n2"}};
  trace.marks = {{NodeId(1), Step::kContributed, Round(3), KeyId(1), At(1000)},
                 {NodeId(2), Step::kContributed, Round(3), KeyId(1), At(1000)},
                 {NodeId(1), Step::kCompleted, Round(3), KeyId(1), At(2001)},
                 {NodeId(2), Step::kCompleted, Round(3), KeyId(1), At(2010)}};
  for (uint32_t chunk = 0; chunk < 10; ++chunk) {
    const int64_t came = 1100 + 100 * chunk;
    const ChunkJourney up{Round(3), KeyId(1), ChunkIndex(chunk), false, NodeId(2), NodeId(1)};
    const ChunkJourney down{Round(3), KeyId(1), ChunkIndex(chunk), true, NodeId(1), NodeId(2)};
    trace.hops.push_back({up, NodeId(2), NodeId(1), 125000, At(1000), At(came - 100), At(came)});
    trace.hops.push_back({down, NodeId(1), NodeId(2), 125000, At(came), At(came), At(came + 10)});
  }
  return trace;
}

TEST(RoundChartTest, ShowsLinksAndThePathOfTheLastRound) {
  const RoundChart chart = MakeRoundChart(TwoNodes(), {{"n3", "it has died"}});
  EXPECT_EQ(chart.round, Round(3));
  EXPECT_EQ(chart.sentence, "round 3 took 1010 ms: n2 to n1 was full from 0.0 ms to 1000 ms");
  EXPECT_NEAR(chart.seconds, 1.01, 1e-9);
  EXPECT_EQ(chart.missing.at(0).node, "n3");
  ASSERT_EQ(chart.links.size(), 2u);
  const RoundChart::Link& full = chart.links[0];
  EXPECT_EQ(full.from, "n2");
  EXPECT_TRUE(full.is_on_path);
  EXPECT_EQ(full.size_bytes, 1250000u);
  // Ten chunks one after the other are one span.
  ASSERT_EQ(full.carries.size(), 2u);
  EXPECT_NEAR(full.carries[1], 1, 1e-9);
  EXPECT_NEAR(full.busy_s, 1, 1e-9);
  EXPECT_EQ(chart.links[1].carries.size(), 20u);
  EXPECT_EQ(chart.links[1].waits.size(), 0u);
  double at_s = 0;
  for (const RoundChart::Part& part : chart.path) {
    EXPECT_NEAR(part.begin_s, at_s, 1e-9);
    at_s = part.end_s;
  }
  EXPECT_NEAR(at_s, 1.01, 1e-9);
}

TEST(RoundChartTest, WithoutACompleteRoundThereIsNone) {
  JobTrace trace = TwoNodes();
  trace.marks.pop_back();
  const RoundChart chart = MakeRoundChart(trace, {});
  EXPECT_FALSE(chart.round.has_value());
  EXPECT_EQ(chart.missing.size(), 0u);
}

TEST(RoundChartTest, ShowsTheRoundThatIsNamed) {
  EXPECT_EQ(MakeRoundChart(TwoNodes(), {}, Round(3)).round, Round(3));
  EXPECT_FALSE(MakeRoundChart(TwoNodes(), {}, Round(4)).round.has_value());
}

TEST(RoundChartTest, ShowsNoMoreLinksThanAPageCan) {
  JobTrace trace = TwoNodes();
  for (uint32_t node = 3; node < 203; ++node) {
    const ChunkJourney up{Round(3), KeyId(1), ChunkIndex(0), false, NodeId(node), NodeId(1)};
    trace.hops.push_back({up, NodeId(node), NodeId(1), 10, At(1000), At(1000), At(1010)});
  }
  const RoundChart chart = MakeRoundChart(trace, {});
  EXPECT_EQ(chart.links.size(), kMostChartLinks);
  EXPECT_EQ(chart.links_left_out, 202 - kMostChartLinks);
}

}  // namespace
}  // namespace banyan
