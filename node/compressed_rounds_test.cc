// Rounds whose chunks are compressed on every link, through whole nodes: replicas stay identical and nothing is lost.
#include <algorithm>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/compressed_rounds_fixture.h"

namespace banyan {
namespace {

class CompressedRoundsTest : public CompressedRoundsFixture {};

CompressionRule TopK(double ratio) { return {.codec = CodecId::kTopK, .numbers = {{"ratio", ratio}}}; }

TEST_F(CompressedRoundsTest, HalvesTravelOnEveryLinkUpAndDown) {
  Start({.codec = CodecId::kFp16});
  std::vector<std::vector<float>> gradients(kNodes, std::vector<float>(kElements, 3.0f));
  EXPECT_EQ(RunRound(gradients), std::vector<float>(kElements, 3.0f));
  EXPECT_EQ(codecs_, std::set<CodecId>{CodecId::kFp16});
  // Two bytes for each element over two links up and two down.
  EXPECT_EQ(frame_bytes_, 2 * kElements * 4);
}

TEST_F(CompressedRoundsTest, SmallTensorsAndBroadcastsStayAsTheyAre) {
  CompressionRule rule = TopK(0.1);
  rule.keys = "another";
  Start(rule);
  RunRounds(1, 0);
  EXPECT_EQ(codecs_, std::set<CodecId>{CodecId::kFp32});
  EXPECT_LT(LargestDifference(), 1e-6);
}

TEST_F(CompressedRoundsTest, ABroadcastIsLossless) {
  Start(TopK(0.01));
  const std::vector<float> values = RandomGradient();
  const RequestId source = cluster_->Broadcast(1, 0, kKey, values);
  const RequestId other = cluster_->Broadcast(2, 0, kKey, std::vector<float>(kElements));
  cluster_->Broadcast(3, 0, kKey, std::vector<float>(kElements));
  ASSERT_TRUE(cluster_->IsDone(source) && cluster_->IsDone(other));
  EXPECT_EQ(cluster_->Result(other), values);
}

// What a round drops on the way up or down comes with later rounds: when only zeros follow, until nothing is missing.
TEST_F(CompressedRoundsTest, WithErrorFeedbackNothingIsLost) {
  Start(TopK(0.1));
  RunRounds(10, 0);
  EXPECT_GT(LargestDifference(), 0.1);
  EXPECT_EQ(codecs_, std::set<CodecId>{CodecId::kTopK});
  Start(TopK(0.1));
  RunRounds(10, 120);
  EXPECT_LT(LargestDifference(), 1e-5);
}

TEST_F(CompressedRoundsTest, WithoutErrorFeedbackItIs) {
  CompressionRule rule = TopK(0.1);
  rule.error_feedback = false;
  Start(rule);
  RunRounds(10, 120);
  EXPECT_GT(LargestDifference(), 0.1);
}

TEST_F(CompressedRoundsTest, AFlushBringsAtOnceWhatWasKeptBack) {
  for (CompressionRule rule : {TopK(0.01), CompressionRule{.codec = CodecId::kSign}}) {
    Start(rule);
    RunRounds(10, 0);
    EXPECT_GT(LargestDifference(), 0.1);
    Flush();
    EXPECT_LT(LargestDifference(), 1e-5);
    EXPECT_EQ(codecs_, std::set<CodecId>{CodecId::kFp32});
  }
}

TEST_F(CompressedRoundsTest, AfterAFlushNothingIsLeftForTheNext) {
  Start(TopK(0.01));
  RunRounds(3, 0);
  Flush();
  EXPECT_EQ(RunRound(std::vector(kNodes, std::vector<float>(kElements)), /*flush=*/true),
            std::vector<float>(kElements));
}

// Plain descent from zero: where all updates have been applied, the parameters are the sum of all that was pushed.
TEST_F(CompressedRoundsTest, AnOptimizerTakesAFlushForAnUpdate) {
  Start(TopK(0.01), AggregationOp::kSgd);
  RunRounds(3, 0);
  const std::vector<float> parameters = Flush();
  const double learning_rate = AggregationConfig().learning_rate;
  for (int i = 0; i < kElements; ++i) ASSERT_NEAR(parameters[i], -learning_rate * pushed_[i], 1e-6);
  EXPECT_EQ(codecs_, std::set<CodecId>{CodecId::kFp32});
}

TEST_F(CompressedRoundsTest, WhoFlushesWhileAnotherPushesIsTold) {
  Start(TopK(0.1));
  cluster_->Push(1, 0, kKey, std::vector<float>(kElements));
  const RequestId flush = cluster_->Flush(2, 0, kKey, std::vector<float>(kElements));
  cluster_->Push(3, 0, kKey, std::vector<float>(kElements));
  EXPECT_THAT(cluster_->StatusOf(flush).message(), testing::HasSubstr("members disagree"));
}

// NetSenseML's Algorithm 2 at a ratio that stays where it is.
CompressionRule NetSense(double ratio) {
  return {.codec = CodecId::kTopK,
          .controller = RatioControllerKind::kNetSense,
          .numbers = {{"start_ratio", ratio}, {"least_ratio", ratio}, {"greatest_ratio", ratio}}};
}

std::vector<float> Rising(int elements) {
  std::vector<float> values(elements);
  for (int i = 0; i < elements; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

TEST_F(CompressedRoundsTest, UnderNetSenseHalvesTravelTwiceAsMany) {
  Start(NetSense(0.1));
  RunRounds(1, 0);
  const int64_t quantized_bytes = frame_bytes_;
  CompressionRule as_floats = NetSense(0.1);
  as_floats.numbers.push_back({"quantize_below", 0});
  frame_bytes_ = 0;
  Start(as_floats);
  RunRounds(1, 0);
  // 20 halves of each 100 elements instead of 10 floats, with 10 bytes of header and about 5 bits for each index.
  EXPECT_NEAR(quantized_bytes, frame_bytes_, 0.15 * frame_bytes_);
  EXPECT_GT(quantized_bytes, frame_bytes_);
}

// At the ratio of 0.2, doubled, three tenths of the weights' gradients stay behind: the first thirty of each chunk of
// a hundred, where weights rise, as long as the weights say so. The root's own gradients reach everybody.
TEST_F(CompressedRoundsTest, GradientsOfTheSmallestWeightsStayBehind) {
  Start(NetSense(0.2));
  for (uint32_t node = 1; node <= kNodes; ++node) {
    EXPECT_TRUE(cluster_->StatusOf(cluster_->RegisterWeights(node, 0, kKey, Rising(kElements))).ok());
  }
  std::vector<std::vector<float>> gradients(kNodes, std::vector<float>(kElements));
  for (int i = 0; i < kElements; ++i) {
    gradients[1][i] = gradients[2][i] = static_cast<float>(i % 100 < 30 ? 100 : 1 + i % 100);
  }
  for (int round = 0; round < 4; ++round) {
    const std::vector<float> result = RunRound(gradients);
    for (int i = 0; i < kElements; ++i) {
      if (i % 100 < 30) {
        EXPECT_EQ(result[i], 0) << i << " in round " << round;
      }
    }
    for (std::vector<float>& gradient : gradients) std::fill(gradient.begin(), gradient.end(), 0.0f);
  }
  // Once other weights are the smallest, what was kept comes.
  std::vector<float> falling = Rising(kElements);
  std::reverse(falling.begin(), falling.end());
  for (uint32_t node = 1; node <= kNodes; ++node) cluster_->RegisterWeights(node, 0, kKey, falling);
  const std::vector<float> result = RunRound(gradients);
  for (int i = 0; i < kElements; ++i) {
    if (i % 100 < 30) {
      EXPECT_GT(result[i], 0) << i;
    }
  }
}

// Pruned, rounded or not chosen: all of it comes as long as each weight is among the larger ones now and then.
TEST_F(CompressedRoundsTest, UnderNetSenseNothingIsLost) {
  for (AggregationOp op : {AggregationOp::kMean, AggregationOp::kSum}) {
    Start(NetSense(0.1), op);
    pushed_.assign(kElements, 0);
    applied_.assign(kElements, 0);
    for (int round = 0; round < 300; ++round) {
      std::vector<float> weights(kElements);
      for (float& weight : weights) weight = static_cast<float>(random_.Unit() - 0.5);
      std::vector<std::vector<float>> gradients(kNodes, std::vector<float>(kElements));
      for (uint32_t node = 1; node <= kNodes; ++node) {
        cluster_->RegisterWeights(node, 0, kKey, weights);
        if (round < 10) gradients[node - 1] = RandomGradient();
      }
      const double share = op == AggregationOp::kMean ? 1.0 / kNodes : 1;
      for (int i = 0; i < kElements; ++i) {
        for (const std::vector<float>& gradient : gradients) pushed_[i] += share * gradient[i];
      }
      const std::vector<float> result = RunRound(gradients);
      for (int i = 0; i < kElements; ++i) applied_[i] += result[i];
      if (round == 9) {
        EXPECT_GT(LargestDifference(), 0.1);
      }
    }
    EXPECT_LT(LargestDifference(), 1e-5);
  }
}

TEST_F(CompressedRoundsTest, WithoutWeightsPruningIsSkippedAndSaidSoOnce) {
  Start(NetSense(0.1));
  RunRounds(3, 150);
  EXPECT_LT(LargestDifference(), 1e-5);
  int said = 0;
  for (const LogLine& line : cluster_->logs()) {
    if (line.text.find("key 'w': no worker has registered its weights") == std::string::npos) continue;
    EXPECT_EQ(line.level, LogLevel::kInfo);
    ++said;
  }
  // By the two nodes that have an uplink.
  EXPECT_EQ(said, 2);
  cluster_->Advance(absl::Seconds(2));
  EXPECT_EQ(cluster_->Memory(2, "weights"), 0u);
}

// A server-side optimizer's replica is the weights, from the values of Init on.
TEST_F(CompressedRoundsTest, AnOptimizersReplicaSaysWhatIsPruned) {
  Start(NetSense(0.2), AggregationOp::kSgd, Rising(kElements));
  std::vector<std::vector<float>> gradients(kNodes, std::vector<float>(kElements));
  gradients[2].assign(kElements, 1.0f);
  const std::vector<float> result = RunRound(gradients);
  int moved = 0;
  for (int i = 0; i < kElements; ++i) {
    if (i % 100 < 30) {
      EXPECT_EQ(result[i], i + 1) << i;
    }
    moved += result[i] != i + 1;
  }
  EXPECT_GT(moved, 0);
  for (const LogLine& line : cluster_->logs()) EXPECT_EQ(line.text.find("registered"), std::string::npos) << line.text;
  // Nobody needs a second copy.
  cluster_->RegisterWeights(3, 0, kKey, Rising(kElements));
  cluster_->Advance(absl::Seconds(2));
  EXPECT_EQ(cluster_->Memory(3, "weights"), 0u);
}

TEST_F(CompressedRoundsTest, WeightsAreCountedWhereTheyAreNeeded) {
  Start(NetSense(0.1));
  cluster_->RegisterWeights(2, 0, kKey, Rising(kElements));
  cluster_->RegisterWeights(2, 0, kKey, Rising(kElements));
  cluster_->Advance(absl::Seconds(2));
  EXPECT_EQ(cluster_->Memory(2, "weights"), kElements * sizeof(float));
  EXPECT_EQ(cluster_->Memory(3, "weights"), 0u);
  Start(TopK(0.1));
  EXPECT_TRUE(cluster_->StatusOf(cluster_->RegisterWeights(2, 0, kKey, Rising(kElements))).ok());
  cluster_->Advance(absl::Seconds(2));
  EXPECT_EQ(cluster_->Memory(2, "weights"), 0u);
}

// The residual is in the memory that a node reports.
TEST_F(CompressedRoundsTest, ResidualsAreCounted) {
  Start(TopK(0.1));
  RunRounds(1, 0);
  cluster_->Advance(absl::Seconds(2));
  for (uint32_t node = 1; node <= kNodes; ++node) {
    EXPECT_EQ(cluster_->Memory(node, "residuals"), kElements * sizeof(float));
  }
}

}  // namespace
}  // namespace banyan
