#include "gtest/gtest.h"
#include "node/rounds/tensor_memory.h"

namespace banyan {
namespace {

TEST(OptimizerStateTest, KeepsEachElementsMemoryHoweverRangesAreCut) {
  OptimizerState state(AggregationOp::kAdam, 20);
  OptimizerSlices slices = state.Slices(10, 10);
  EXPECT_EQ(slices.step, 1u);
  ASSERT_EQ(slices.first_moment.elements(), 10);
  ASSERT_EQ(slices.second_moment.elements(), 10);
  EXPECT_EQ(slices.first_moment.floats()[3], 0.0f);
  slices.first_moment.mutable_floats()[3] = 3;
  slices.second_moment.mutable_floats()[4] = 4;
  // Another chunk of the same step.
  EXPECT_EQ(state.Slices(0, 10).step, 1u);
  state.EndStep();
  const OptimizerSlices all = state.Slices(0, 20);
  EXPECT_EQ(all.step, 2u);
  EXPECT_EQ(all.first_moment.floats()[13], 3.0f);
  EXPECT_EQ(all.second_moment.floats()[14], 4.0f);
  EXPECT_EQ(state.Slices(13, 1).first_moment.floats()[0], 3.0f);
}

TEST(OptimizerStateTest, HoldsOnlyWhatTheOpNeeds) {
  OptimizerState sgd(AggregationOp::kSgd, 10);
  EXPECT_TRUE(sgd.Slices(0, 10).first_moment.empty());
  EXPECT_EQ(sgd.size_bytes(), 0);
  OptimizerState momentum(AggregationOp::kMomentum, 10);
  EXPECT_EQ(momentum.size_bytes(), 0);
  EXPECT_TRUE(momentum.Slices(0, 5).second_moment.empty());
  EXPECT_EQ(momentum.size_bytes(), 10 * 4);
  OptimizerState adam(AggregationOp::kAdam, 10);
  adam.Slices(5, 5);
  EXPECT_EQ(adam.size_bytes(), 2 * 10 * 4);
}

TEST(OptimizerStateDeathTest, RangesLieWithinTheTensor) {
  OptimizerState state(AggregationOp::kNesterov, 20);
  EXPECT_DEATH(state.Slices(15, 6), "invariant broken");
  EXPECT_DEATH(state.Slices(-1, 6), "invariant broken");
  EXPECT_DEATH(state.Slices(0, 0), "invariant broken");
}

}  // namespace
}  // namespace banyan
