#include "tools/wan_benchmark/contender_simulation.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

BenchPlace Place() {
  BenchPlace place;
  place.scheduler_node = "b";
  place.overlay =
      "nodes: [{name: a}, {name: b}, {name: c}]\nlinks: [{between: [a, b], mbps: 10}, "
      "{between: [b, c], mbps: 10}]\n";
  place.elements = 1000000;
  return place;
}

Contender Star() {
  Contender contender;
  contender.name = "star";
  contender.planner = "star";
  contender.root = "b";
  return contender;
}

TEST(ContenderSimulationTest, IsTheTimeThatTheLinksTake) {
  const absl::StatusOr<double> seconds = SimulatedSeconds(Star(), Place(), {.warm_up_rounds = 1, .rounds = 2});
  ASSERT_TRUE(seconds.ok()) << seconds.status();
  // 32 Mbit in at 10 Mbit/s, and out again meanwhile.
  EXPECT_GT(*seconds, 3.2);
  EXPECT_LT(*seconds, 3.6);
}

TEST(ContenderSimulationTest, RatesChangeAsTheyDoInTheWan) {
  const LinkRedraw redraw = {.period = absl::Seconds(4), .low_bps = 1e6, .high_bps = 2e6};
  const absl::StatusOr<double> seconds =
      SimulatedSeconds(Star(), Place(), {.warm_up_rounds = 2, .rounds = 1, .redraw = redraw});
  ASSERT_TRUE(seconds.ok()) << seconds.status();
  EXPECT_GT(*seconds, 10);
}

TEST(ContenderSimulationTest, NamesWhatTheSimulatorRefuses) {
  Contender contender = Star();
  contender.planner = "oak";
  EXPECT_FALSE(SimulatedSeconds(contender, Place(), {}).ok());
}

}  // namespace
}  // namespace banyan
