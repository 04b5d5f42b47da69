// Rounds whose contributions are cut where they wait, through whole nodes: replicas stay identical and nothing is lost.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/compressed_rounds_fixture.h"

namespace banyan {
namespace {

class CutRoundsTest : public CompressedRoundsFixture {
 protected:
  // Each chunk that leaves a queue is cut with this chance.
  void CutAtRandom(double share) { trimming_ = {.policy = TrimPolicyKind::kRandom, .share = share}; }
};

constexpr CodecId kExact[] = {CodecId::kTrimSign, CodecId::kTrimSq, CodecId::kTrimSd, CodecId::kTrimRht,
                              CodecId::kTrimRhtLevels};

TEST_F(CutRoundsTest, WithoutCutsASumIsExact) {
  CutAtRandom(0);
  for (const CodecId codec : kExact) {
    Start({.codec = codec});
    RunRounds(3, 0);
    EXPECT_LT(LargestDifference(), 1e-5) << static_cast<int>(codec);
    EXPECT_EQ(cut_chunks_, 0);
  }
}

// What was cut comes with the next rounds: at the latest with a flush, which nobody cuts.
TEST_F(CutRoundsTest, WhatWasCutComesBackWithAFlush) {
  for (const double share : {0.5, 1.0}) {
    CutAtRandom(share);
    for (const CodecId codec : kExact) {
      cut_chunks_ = 0;
      Start({.codec = codec});
      RunRounds(10, 0);
      EXPECT_GT(cut_chunks_, 0);
      EXPECT_GT(LargestDifference(), 0.05) << static_cast<int>(codec);
      const int64_t cut_before = std::exchange(cut_chunks_, 0);
      Flush();
      // Where all is cut in every round, what dithers drop grows to thousands, and floats round it.
      EXPECT_LT(LargestDifference(), 2e-3) << static_cast<int>(codec) << " after " << cut_before << " cuts";
      EXPECT_EQ(cut_chunks_, 0);
      EXPECT_EQ(codecs_, std::set<CodecId>{CodecId::kFp32});
    }
  }
}

TEST_F(CutRoundsTest, TiersOfTopKComeBackToo) {
  CutAtRandom(1);
  Start({.codec = CodecId::kTrimTopK, .numbers = {{"ratio", 0.2}}});
  RunRounds(10, 0);
  EXPECT_GT(cut_chunks_, 0);
  Flush();
  EXPECT_LT(LargestDifference(), 1e-4);
}

TEST_F(CutRoundsTest, AnOptimizersStepsMissNothing) {
  CutAtRandom(0.5);
  Start({.codec = CodecId::kTrimRht}, AggregationOp::kSgd);
  RunRounds(5, 0);
  const std::vector<float> parameters = Flush();
  const double learning_rate = AggregationConfig().learning_rate;
  for (int i = 0; i < kElements; ++i) ASSERT_NEAR(parameters[i], -learning_rate * pushed_[i], 1e-5);
}

TEST_F(CutRoundsTest, WithoutErrorFeedbackWhatIsCutIsLost) {
  CutAtRandom(1);
  Start({.codec = CodecId::kTrimSign, .error_feedback = false});
  RunRounds(5, 0);
  Flush();
  EXPECT_GT(LargestDifference(), 0.05);
}

// Copies of one chunk may be cut otherwise: the first that is taken counts.
TEST_F(CutRoundsTest, ACopyThatComesTwiceCountsOnce) {
  CutAtRandom(0.5);
  Start({.codec = CodecId::kTrimSign});
  cluster_->filter = [](uint32_t, uint32_t, const Message& message) {
    return std::holds_alternative<ChunkMessage>(message) ? TestCluster::Fate::kTwice : TestCluster::Fate::kDeliver;
  };
  RunRounds(10, 0);
  Flush();
  EXPECT_LT(LargestDifference(), 1e-4);
}

TEST_F(CutRoundsTest, QueuesThatAreFullCut) {
  trimming_ = {.policy = TrimPolicyKind::kQueue, .queue_bytes = 0};
  window_bytes_ = 1;  // one chunk at a time
  Start({.codec = CodecId::kTrimSign});
  RunRounds(5, 0);
  EXPECT_GT(cut_chunks_, 0);
  Flush();
  EXPECT_LT(LargestDifference(), 1e-4);
}

TEST_F(CutRoundsTest, WhatDoesNotGoThroughIsNotSentAtAll) {
  trimming_ = {.policy = TrimPolicyKind::kQueue, .queue_bytes = 0};
  window_bytes_ = 1;
  Start({.codec = CodecId::kTrimRht});
  int64_t contributions = 0, sent_in_part = 0;
  cluster_->filter = [&](uint32_t, uint32_t, const Message& message) {
    const auto* chunk = std::get_if<ChunkMessage>(&message);
    if (chunk == nullptr || chunk->kind != RoundKind::kAggregate) return TestCluster::Fate::kDeliver;
    if (chunk->id.half == Half::kBroadcast) return TestCluster::Fate::kDeliver;
    ++contributions;
    sent_in_part += chunk->frames.back().level == 0 && chunk->cut_frames == 0 ? 1 : 0;
    return TestCluster::Fate::kDeliver;
  };
  RunRounds(10, 0);
  EXPECT_GT(sent_in_part, 0);
  EXPECT_LT(sent_in_part, contributions) << "the first ones, and others to see if more goes through";
  Flush();
  EXPECT_LT(LargestDifference(), 1e-3);
}

// A node whose contributions are cut changes to the transform, the others need not; nothing is lost on the way.
TEST_F(CutRoundsTest, TheMethodFollowsWhatIsCut) {
  trimming_ = {.policy = TrimPolicyKind::kQueue, .queue_bytes = 0};
  window_bytes_ = 1;
  for (const CodecId codec : {CodecId::kTrimRht, CodecId::kTrimRhtLevels}) {
    codecs_.clear();
    Start({.codec = codec, .numbers = {{"light_below", 0.3}}});
    RunRounds(15, 0);
    EXPECT_TRUE(codecs_.contains(CodecId::kTrimSign));
    EXPECT_TRUE(codecs_.contains(codec));
    Flush();
    EXPECT_LT(LargestDifference(), 1e-3);
    EXPECT_EQ(codecs_, std::set<CodecId>{CodecId::kFp32});
  }
}

// No time passes in these rounds: nothing is ever late.
TEST_F(CutRoundsTest, WhatIsInTimeStaysWhole) {
  Start({.codec = CodecId::kTrimSign});
  RunRounds(20, 0);
  EXPECT_EQ(cut_chunks_, 0);
  EXPECT_LT(LargestDifference(), 1e-5);
}

TEST_F(CutRoundsTest, PlainCodecsAreNeverCut) {
  CutAtRandom(1);
  Start({.codec = CodecId::kSign});
  RunRounds(5, 0);
  EXPECT_EQ(cut_chunks_, 0);
}

}  // namespace
}  // namespace banyan
