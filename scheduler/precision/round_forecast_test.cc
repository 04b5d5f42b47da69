#include "gtest/gtest.h"
#include "scheduler/precision/endpoint_guard.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr GuardedSize kSize{1'000'000, 4};

// What links, or processors where `cast_rate` is low, are busy with in a low-bit round of nine workers.
absl::Duration BusyWith(VoteAggregate aggregate, double cast_rate) {
  const NetworkView view = RandomNetwork(9, 8, 1);
  PlannerConfig config;
  config.planner = "star";
  VoteRules rules;
  rules.aggregate = aggregate;
  std::vector<RoundWork::Processor> processors(view.nodes().size());
  for (RoundWork::Processor& processor : processors) processor.cast_rate = cast_rate;
  RoundForecast forecast(*MakePolicy(view, config), view, rules, std::move(processors), {kSize});
  forecast.Run();
  return forecast.predictions().at(kSize).low_bit.busy;
}

TEST(RoundForecastTest, AMeanHasTheBitsOfItsCounts) {
  constexpr double kFast = 1e15;
  EXPECT_GT(BusyWith(VoteAggregate::kMean, kFast), 1.2 * BusyWith(VoteAggregate::kMajority, kFast));
}

TEST(RoundForecastTest, AMeanIsCastInTwiceThePasses) {
  constexpr double kSlow = 1e3;
  const double times =
      absl::FDivDuration(BusyWith(VoteAggregate::kMean, kSlow), BusyWith(VoteAggregate::kMajority, kSlow));
  EXPECT_NEAR(times, 2, 0.01);
}

}  // namespace
}  // namespace banyan
