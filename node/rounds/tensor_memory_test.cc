#include "node/rounds/tensor_memory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TensorMemory Memory(AggregationOp op) {
  AggregationConfig config;
  config.op = op;
  return TensorMemory(config, 6);
}

TEST(TensorMemoryTest, TakesMemoryForWhatIsUsedOnly) {
  TensorMemory memory = Memory(AggregationOp::kAdam);
  EXPECT_EQ(memory.sizes().replica_bytes, 0);
  EXPECT_EQ(memory.sizes().residual_bytes, 0);
  EXPECT_EQ(memory.sizes().optimizer_bytes, 0);
  memory.Residual({0, 2});
  EXPECT_EQ(memory.sizes().residual_bytes, 8);
  EXPECT_EQ(memory.sizes().replica_bytes, 0);
  memory.Step({2, 2});
  EXPECT_EQ(memory.sizes().replica_bytes, 24);
  EXPECT_EQ(memory.sizes().optimizer_bytes, 48);
}

TEST(TensorMemoryTest, ElementsKeepTheirsHoweverRangesAreCut) {
  TensorMemory memory = Memory(AggregationOp::kMean);
  EXPECT_THAT(memory.Residual({0, 6}).floats(), ElementsAre(0, 0, 0, 0, 0, 0));
  memory.Residual({2, 3}).mutable_floats()[1] = 7;
  EXPECT_THAT(memory.Residual({3, 1}).floats(), ElementsAre(7));
  EXPECT_THAT(memory.Residual({0, 6}).floats(), ElementsAre(0, 0, 0, 7, 0, 0));
}

TEST(TensorMemoryTest, StepsWorkOnTheReplica) {
  TensorMemory memory = Memory(AggregationOp::kMomentum);
  memory.Replica({0, 6}).mutable_floats()[4] = 5;
  std::optional<OptimizerStep> step = memory.Step({4, 2});
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->slices.step, 1u);
  EXPECT_EQ(step->slices.first_moment.elements(), 2);
  EXPECT_THAT(step->parameters.floats(), ElementsAre(5, 0));
  step->parameters.mutable_floats()[0] = 6;
  EXPECT_THAT(memory.Replica({4, 1}).floats(), ElementsAre(6));
  memory.EndStep();
  EXPECT_EQ(memory.Step({0, 1})->slices.step, 2u);
}

// Returns the parameters after a step along this gradient.
std::vector<float> StepAlong(TensorMemory& memory, std::vector<float> gradient) {
  OptimizerStep step = *memory.Step({0, 6});
  MakeStep(step, absl::MakeSpan(gradient));
  memory.EndStep();
  return gradient;
}

TEST(TensorMemoryTest, AnImageMakesAnotherMembersMemoryTheSame) {
  for (const AggregationOp op : {AggregationOp::kSgd, AggregationOp::kMomentum, AggregationOp::kAdam}) {
    TensorMemory trained = Memory(op);
    for (int step = 0; step < 3; ++step) StepAlong(trained, {1, -2, 3, -4, 5, -6});
    std::vector<uint8_t> image(trained.image_bytes());
    // In parts that are cut anyhow.
    for (size_t first = 0; first < image.size(); first += 7) {
      trained.ReadImage(static_cast<int64_t>(first), absl::MakeSpan(image).subspan(first, 7));
    }
    TensorMemory joined = Memory(op);
    joined.Lack();
    ASSERT_TRUE(joined.lacks_replica());
    joined.TakeImage(image);
    EXPECT_FALSE(joined.lacks_replica());
    EXPECT_EQ(StepAlong(joined, {2, 2, 2, 2, 2, 2}), StepAlong(trained, {2, 2, 2, 2, 2, 2}));
  }
}

TEST(TensorMemoryTest, TheImageOfWhatHasNotBegunIsZero) {
  const TensorMemory memory = Memory(AggregationOp::kAdam);
  std::vector<uint8_t> image(memory.image_bytes(), 1);
  memory.ReadImage(0, absl::MakeSpan(image));
  EXPECT_EQ(image, std::vector<uint8_t>(8 + 3 * 6 * 4, 0));
}

TEST(TensorMemoryTest, WithoutAnOptimizerThereIsNoStep) {
  TensorMemory memory = Memory(AggregationOp::kMean);
  EXPECT_FALSE(memory.has_optimizer());
  EXPECT_FALSE(memory.Step({0, 6}).has_value());
  EXPECT_EQ(memory.sizes().replica_bytes, 0);
}

TEST(TensorMemoryTest, WeightsAreTheReplicaOrWhatWasSaid) {
  TensorMemory trained = Memory(AggregationOp::kSgd);
  trained.Replica({0, 6}).mutable_floats()[1] = 3;
  EXPECT_THAT(trained.Weights({0, 2}).floats(), ElementsAre(0, 3));
  EXPECT_EQ(trained.sizes().weights_bytes, 0);

  TensorMemory told = Memory(AggregationOp::kMean);
  EXPECT_TRUE(told.Weights({0, 2}).empty());
  EXPECT_TRUE(told.NoteMissingWeights());
  EXPECT_FALSE(told.NoteMissingWeights());
  told.SetWeights(Buffer::CopyOf({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(told.Weights({1, 2}).floats(), ElementsAre(2, 3));
  EXPECT_EQ(told.sizes().weights_bytes, 24);
}

TEST(TensorMemoryTest, ACopyOfOlderWeightsComesTooLate) {
  TensorMemory memory = Memory(AggregationOp::kSum);
  const Buffer first = Buffer::CopyOf({1, 1, 1, 1, 1, 1});
  memory.SetWeights(first);
  const Buffer second = Buffer::CopyOf({2, 2, 2, 2, 2, 2});
  memory.SetWeights(second);
  memory.MoveWeights(first.data(), Buffer::CopyOf(first.floats()));
  EXPECT_EQ(memory.Weights({0, 6}).data(), second.data());
  const Buffer copy = Buffer::CopyOf(second.floats());
  memory.MoveWeights(second.data(), copy);
  EXPECT_EQ(memory.Weights({0, 6}).data(), copy.data());
}

TEST(TensorMemoryDeathTest, RangesLieWithinTheTensor) {
  TensorMemory memory = Memory(AggregationOp::kSum);
  EXPECT_DEATH(memory.Residual({5, 2}), "invariant broken");
  EXPECT_DEATH(memory.Replica({-1, 2}), "invariant broken");
}

}  // namespace
}  // namespace banyan
