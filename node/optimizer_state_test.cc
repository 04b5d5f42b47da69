#include "node/optimizer_state.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(OptimizerStateTest, KeepsOneMemoryPerRangeAndCountsItsSteps) {
  OptimizerState state(AggregationOp::kAdam);
  OptimizerSlices slices = state.BeginStep(100, 10);
  EXPECT_EQ(slices.step, 1u);
  ASSERT_EQ(slices.first_moment.elements(), 10);
  ASSERT_EQ(slices.second_moment.elements(), 10);
  EXPECT_EQ(slices.first_moment.floats()[0], 0.0f);
  slices.first_moment.mutable_floats()[0] = 3;
  EXPECT_EQ(state.BeginStep(110, 5).step, 1u);
  const OptimizerSlices again = state.BeginStep(100, 10);
  EXPECT_EQ(again.step, 2u);
  EXPECT_EQ(again.first_moment.floats()[0], 3.0f);
  EXPECT_EQ(state.size_bytes(), 2 * 15 * 4);
}

TEST(OptimizerStateTest, HoldsOnlyWhatTheOpNeeds) {
  OptimizerState sgd(AggregationOp::kSgd);
  EXPECT_TRUE(sgd.BeginStep(0, 10).first_moment.empty());
  EXPECT_EQ(sgd.size_bytes(), 0);
  OptimizerState momentum(AggregationOp::kMomentum);
  EXPECT_TRUE(momentum.BeginStep(0, 10).second_moment.empty());
  EXPECT_EQ(momentum.size_bytes(), 10 * 4);
}

TEST(OptimizerStateDeathTest, RangesDoNotOverlap) {
  OptimizerState state(AggregationOp::kNesterov);
  state.BeginStep(10, 10);
  EXPECT_DEATH(state.BeginStep(15, 10), "invariant broken");
  EXPECT_DEATH(state.BeginStep(5, 6), "invariant broken");
  EXPECT_DEATH(state.BeginStep(10, 9), "invariant broken");
}

}  // namespace
}  // namespace banyan
