#include "sim/training/training_plan.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TrainingPlan SmallPlan() {
  TrainingPlan plan;
  plan.tensors = {{"a", 1000, 0}, {"b", 10, 0}};
  return plan;
}

TEST(TrainingPlanTest, GradientsAreSmallWholeNumbersThatDiffer) {
  const TrainingPlan plan = SmallPlan();
  std::vector<float> first(1000);
  std::vector<float> second(1000);
  FillGradient(plan, {NodeId(1), WorkerId(0)}, 0, Round(1), absl::MakeSpan(first));
  FillGradient(plan, {NodeId(2), WorkerId(0)}, 0, Round(1), absl::MakeSpan(second));
  EXPECT_NE(first, second);
  for (float value : first) {
    EXPECT_EQ(value, std::round(value));
    EXPECT_LE(std::abs(value), kLargestGradient);
  }
  EXPECT_GT(*std::max_element(first.begin(), first.end()), 900);
  EXPECT_LT(*std::min_element(first.begin(), first.end()), -900);
}

TEST(TrainingPlanTest, SumsDoNotDependOnTheOrder) {
  const TrainingPlan plan = SmallPlan();
  std::vector<WorkerName> workers;
  for (uint32_t node = 1; node <= 50; ++node) workers.push_back({NodeId(node), WorkerId(0)});
  const std::vector<float> sum = SumOfGradients(plan, workers, 0, Round(3));
  std::reverse(workers.begin(), workers.end());
  EXPECT_EQ(SumOfGradients(plan, workers, 0, Round(3)), sum);
  workers.pop_back();
  EXPECT_NE(SumOfGradients(plan, workers, 0, Round(3)), sum);
}

TEST(TrainingPlanTest, SomeRoundsAreBroadcasts) {
  TrainingPlan plan = SmallPlan();
  EXPECT_EQ(plan.KindOf(Round(0)), RoundKind::kBroadcast);
  EXPECT_EQ(plan.KindOf(Round(3)), RoundKind::kAggregate);
  plan.broadcast_every = 3;
  EXPECT_EQ(plan.KindOf(Round(3)), RoundKind::kBroadcast);
}

}  // namespace
}  // namespace banyan
