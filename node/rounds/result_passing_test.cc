#include <memory>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/rounds/key_rounds.h"
#include "node/testing/test_scheduler.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using From = ResultPassing::From;
using Hop = ResultPassing::Hop;

constexpr KeyId kKey(1);
constexpr ChunkIndex kChunk(0);

// One node of the chain 1 <- 2 <- 3.
class ResultPassingTest : public ::testing::Test {
 protected:
  void Start(uint32_t self) {
    auto chunks = ChunkAssignment::Create({1.0}, 4);
    ASSERT_TRUE(chunks.ok() && chunks->AddKey(kKey, 3).ok());
    const PolicyTable::Binding binding{std::make_shared<PolicySlice>(TestPlan::Chain(3).Slice(self, JobConfig())),
                                       std::make_shared<ChunkAssignment>(*chunks), Attempt(1)};
    ReduceHalf::Tools tools;
    tools.self = NodeId(self);
    tools.waiting_bytes = &waiting_bytes_;
    attempt_.emplace(&key_, Round(4), binding, nullptr, tools);
    passing_.emplace(&*attempt_);
  }
  std::vector<Hop> OnResult(From from, bool has_passed_up = false) {
    return passing_->OnResult(kChunk, from, has_passed_up);
  }

  const KeySlice key_{kKey, "w", 3};
  int64_t waiting_bytes_ = 0;
  std::optional<ReduceHalf> attempt_;
  std::optional<ResultPassing> passing_;
  const Hop up_{NodeId(1), Half::kReduce};
  const Hop down_{NodeId(3), Half::kBroadcast};
};

TEST_F(ResultPassingTest, WhatIsHeldGoesUpAtOnceAndDownWhenItComesFromAbove) {
  Start(2);
  EXPECT_THAT(OnResult(From::kHeld), ElementsAre(up_));
  EXPECT_THAT(OnResult(From::kParent), ElementsAre(down_));
  EXPECT_THAT(OnResult(From::kParent), IsEmpty());
}

TEST_F(ResultPassingTest, OfTwoChildrenWithTheResultOneIsEnough) {
  Start(2);
  EXPECT_THAT(OnResult(From::kChild), ElementsAre(up_));
  EXPECT_THAT(OnResult(From::kChild), IsEmpty());
}

TEST_F(ResultPassingTest, AfterTheSumNothingMoreGoesUp) {
  Start(2);
  EXPECT_THAT(OnResult(From::kChild, true), IsEmpty());
  EXPECT_THAT(OnResult(From::kParent, true), ElementsAre(down_));
}

TEST_F(ResultPassingTest, WhatHasComeFromAboveDoesNotGoUpAgain) {
  Start(2);
  EXPECT_THAT(OnResult(From::kParent), ElementsAre(down_));
  EXPECT_THAT(OnResult(From::kChild), IsEmpty());
}

TEST_F(ResultPassingTest, TheRootSendsItDownOnceWhereverItComesFrom) {
  for (const From from : {From::kHeld, From::kChild, From::kMade}) {
    Start(1);
    EXPECT_THAT(OnResult(from), ElementsAre(Hop{NodeId(2), Half::kBroadcast}));
    EXPECT_THAT(OnResult(From::kChild), IsEmpty());
  }
}

}  // namespace
}  // namespace banyan
