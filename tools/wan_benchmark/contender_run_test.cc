#include "tools/wan_benchmark/contender_run.h"

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(BurstTrafficTest, TheLinksThatWereUsedMostOfTheTime) {
  WanStatus status;
  status.links = {
      {.from = "a", .to = "b", .mbps = 100}, {.from = "b", .to = "a", .mbps = 10}, {.from = "a", .to = "c", .mbps = 1}};
  const std::vector<ContenderResult::Link> links = {{"a", "b", 500}, {"b", "a", 300}, {"a", "c", 20}, {"x", "y", 9000}};
  const std::vector<ContenderResult::Link> loaded = MostLoaded(links, status, 2);
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].from + loaded[0].to, "ba");
  EXPECT_EQ(loaded[1].from + loaded[1].to, "ac");
  EXPECT_EQ(MostLoaded(links, status, 9).size(), 4u);
}

TEST(BurstTrafficTest, SendsAPartOfTheRate) {
  BenchPlace place;
  place.banyan_program = "/bin/banyan";
  place.wan_directory = "/tmp/wan";
  EXPECT_EQ(absl::StrJoin(TrafficArguments(place, {"a", "b", 0}, 70, {.part = 0.7}), " "),
            "/bin/banyan wan traffic a b --rate 70 --on 2s --off 3s --for 43200s --dir /tmp/wan");
}

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
