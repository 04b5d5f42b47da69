#include "runtime/session/session_key.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

SessionKey ReadyKey(uint32_t gradient_slots, uint32_t result_slots) {
  SessionKey key(4);
  key.Opened(TensorId(1), TensorSegment::Create({4, gradient_slots, result_slots}).value());
  const auto init = key.Take(TensorCallKind::kInit, 1);
  key.Answered(TensorCallKind::kInit, *init, true, 0);
  key.GradientFreed(init->gradient);
  return key;
}

TEST(SessionKeyTest, NothingStartsBeforeInitIsDone) {
  SessionKey key(4);
  EXPECT_FALSE(key.Take(TensorCallKind::kInit, 1));
  key.Opened(TensorId(7), TensorSegment::Create({4, 2, 1}).value());
  EXPECT_EQ(key.tensor(), TensorId(7));
  const auto init = key.Take(TensorCallKind::kInit, 1);
  ASSERT_TRUE(init);
  EXPECT_EQ(init->round, 0u);
  EXPECT_FALSE(key.Take(TensorCallKind::kPushPull, 1));
  key.Answered(TensorCallKind::kInit, *init, true, 0);
  EXPECT_TRUE(key.Take(TensorCallKind::kPushPull, 1));
}

TEST(SessionKeyTest, WeightsTakeAGradientSlotAndBeginNoRound) {
  SessionKey key = ReadyKey(2, 1);
  const auto push = key.Take(TensorCallKind::kPush, 1);
  ASSERT_TRUE(push);
  const auto weights = key.Take(TensorCallKind::kRegisterWeights, 1);
  ASSERT_TRUE(weights);
  EXPECT_NE(weights->gradient, push->gradient);
  EXPECT_FALSE(key.Take(TensorCallKind::kRegisterWeights, 1)) << "both gradient slots are the node's";
  key.Answered(TensorCallKind::kRegisterWeights, *weights, true, 0);
  key.GradientFreed(weights->gradient);
  EXPECT_FALSE(key.Take(TensorCallKind::kPush, 1)) << "the push's round is open";
  EXPECT_TRUE(key.Take(TensorCallKind::kRegisterWeights, 1));
}

TEST(SessionKeyTest, ARoundWaitsForTheOneBefore) {
  SessionKey key = ReadyKey(2, 1);
  const auto first = key.Take(TensorCallKind::kPushPull, 1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->round, 1u);
  EXPECT_FALSE(key.Take(TensorCallKind::kPushPull, 1));
  key.Answered(TensorCallKind::kPushPull, *first, true, 1);
  const auto second = key.Take(TensorCallKind::kPushPull, 1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->round, 2u);
  EXPECT_NE(second->gradient, first->gradient);
  key.Answered(TensorCallKind::kPushPull, *second, true, 2);
  EXPECT_FALSE(key.Take(TensorCallKind::kPushPull, 1)) << "both gradient slots are the node's";
  key.GradientFreed(first->gradient);
  EXPECT_TRUE(key.Take(TensorCallKind::kPushPull, 1));
}

TEST(SessionKeyTest, AsManyRoundsAsTheJobAllows) {
  SessionKey key = ReadyKey(3, 2);
  EXPECT_TRUE(key.Take(TensorCallKind::kPushPull, 2));
  EXPECT_TRUE(key.Take(TensorCallKind::kPushPull, 2));
  EXPECT_FALSE(key.Take(TensorCallKind::kPushPull, 2));
}

TEST(SessionKeyTest, APushedRoundIsOpenUntilTheNodeSaysSo) {
  SessionKey key = ReadyKey(3, 1);
  const auto push = key.Take(TensorCallKind::kPush, 1);
  ASSERT_TRUE(push);
  key.Answered(TensorCallKind::kPush, *push, true, 1);
  EXPECT_FALSE(key.Take(TensorCallKind::kPush, 1));
  key.RoundCompleted(7);
  EXPECT_FALSE(key.Take(TensorCallKind::kPush, 1)) << "that was another round";
  key.RoundCompleted(1);
  EXPECT_TRUE(key.Take(TensorCallKind::kPush, 1));
}

TEST(SessionKeyTest, APullClosesItsRoundAndNoOther) {
  SessionKey key = ReadyKey(3, 2);
  for (uint64_t round : {1, 2}) {
    const auto push = key.Take(TensorCallKind::kPush, 2);
    ASSERT_TRUE(push);
    key.Answered(TensorCallKind::kPush, *push, true, round);
    key.GradientFreed(push->gradient);
  }
  const auto pull = key.Take(TensorCallKind::kPull, 2);
  ASSERT_TRUE(pull);
  key.Answered(TensorCallKind::kPull, *pull, true, 2);
  const auto third = key.Take(TensorCallKind::kPush, 2);
  ASSERT_TRUE(third) << "the second round is complete";
  key.Answered(TensorCallKind::kPush, *third, true, 3);
  EXPECT_FALSE(key.Take(TensorCallKind::kPush, 2)) << "the first round is open";
  key.RoundCompleted(1);
  EXPECT_TRUE(key.Take(TensorCallKind::kPush, 2));
}

TEST(SessionKeyTest, APullThatFailsLeavesNoRoundOpen) {
  SessionKey key = ReadyKey(3, 1);
  const auto push = key.Take(TensorCallKind::kPush, 1);
  ASSERT_TRUE(push);
  key.Answered(TensorCallKind::kPush, *push, true, 1);
  const auto pull = key.Take(TensorCallKind::kPull, 1);
  ASSERT_TRUE(pull);
  key.Answered(TensorCallKind::kPull, *pull, false, 1);
  EXPECT_TRUE(key.Take(TensorCallKind::kPush, 1));
}

TEST(SessionKeyTest, AnAnswerToAPullOfInitsValuesClosesNoPush) {
  SessionKey key = ReadyKey(2, 2);
  const auto pull = key.Take(TensorCallKind::kPull, 1);
  const auto push = key.Take(TensorCallKind::kPush, 1);
  ASSERT_TRUE(pull && push);
  key.Answered(TensorCallKind::kPull, *pull, true, 0);
  EXPECT_FALSE(key.Take(TensorCallKind::kPush, 1)) << "the push has no answer yet";
}

TEST(SessionKeyTest, ARefusedCallOpensNoRound) {
  SessionKey key = ReadyKey(4, 2);
  for (TensorCallKind kind : {TensorCallKind::kPush, TensorCallKind::kPushPull}) {
    const auto refused = key.Take(kind, 1);
    ASSERT_TRUE(refused);
    key.Answered(kind, *refused, false, 0);
    key.GradientFreed(refused->gradient);
  }
  // The node goes on counting from the last round that it took.
  const auto push = key.Take(TensorCallKind::kPush, 1);
  ASSERT_TRUE(push);
  key.Answered(TensorCallKind::kPush, *push, true, 1);
  EXPECT_FALSE(key.Take(TensorCallKind::kPush, 1));
  key.RoundCompleted(1);
  EXPECT_TRUE(key.Take(TensorCallKind::kPush, 1));
}

TEST(SessionKeyTest, ALentGradientIsNobodyElsesUntilItIsPushed) {
  SessionKey key = ReadyKey(2, 1);
  const auto lent = key.LendGradient();
  ASSERT_TRUE(lent);
  EXPECT_FALSE(key.AllGradientsLent());
  const auto other = key.Take(TensorCallKind::kRegisterWeights, 1);
  ASSERT_TRUE(other);
  EXPECT_NE(other->gradient, *lent);
  EXPECT_FALSE(key.LendGradient());
  const auto push = key.Take(TensorCallKind::kPush, 1, lent);
  ASSERT_TRUE(push);
  EXPECT_EQ(push->gradient, *lent);
  EXPECT_FALSE(key.LendGradient()) << "both are the node's";
  key.GradientFreed(*lent);
  EXPECT_TRUE(key.LendGradient());
}

TEST(SessionKeyTest, KnowsWhenTheWorkerHasThemAll) {
  SessionKey key = ReadyKey(2, 1);
  const auto first = key.LendGradient();
  const auto second = key.LendGradient();
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(key.AllGradientsLent());
  key.GiveBackGradient(*first);
  EXPECT_FALSE(key.AllGradientsLent());

  const auto round = key.Take(TensorCallKind::kPushPull, 1);
  ASSERT_TRUE(round);
  EXPECT_FALSE(key.AllResultsLent());
  key.Answered(TensorCallKind::kPushPull, *round, true, 1);
  key.LendResult(round->result, SessionKey::Holder::kWorker);
  EXPECT_TRUE(key.AllResultsLent());
  EXPECT_FALSE(key.Take(TensorCallKind::kPull, 1));
  key.GiveBackResult(round->result);
  EXPECT_TRUE(key.Take(TensorCallKind::kPull, 1));
}

TEST(SessionKeyTest, HasOneTypeAndShape) {
  const SessionKey key(2, DataType::kFloat16);
  const std::vector<uint16_t> halves(2);
  const ConstTensorView right(halves.data(), 2, DataType::kFloat16);
  EXPECT_TRUE(key.CheckShapes(TensorCallKind::kPushPull, right, right).ok());
  EXPECT_EQ(key.CheckShapes(TensorCallKind::kPushPull, right, ConstTensorView(halves.data(), 2, DataType::kBFloat16)),
            absl::InvalidArgumentError("expected a result of float16, as Init had, got bfloat16"));
  EXPECT_EQ(key.CheckShapes(TensorCallKind::kPush, std::vector<float>(2), {}),
            absl::InvalidArgumentError("expected a gradient of float16, as Init had, got float32"));
  EXPECT_EQ(key.CheckShapes(TensorCallKind::kPush, ConstTensorView(halves.data(), 1, DataType::kFloat16), {}),
            absl::InvalidArgumentError("expected a gradient of 2 elements, as Init had, got 1"));
  EXPECT_EQ(key.slot_elements(), 2);
  EXPECT_EQ(SessionKey(0).slot_elements(), 1);
}

TEST(SessionKeyTest, LendsNothingBeforeInit) {
  SessionKey key(4);
  EXPECT_FALSE(key.LendGradient());
  EXPECT_FALSE(key.AllGradientsLent());
  key.Opened(TensorId(7), TensorSegment::Create({4, 2, 1}).value());
  EXPECT_FALSE(key.LendGradient());
}

}  // namespace
}  // namespace banyan
