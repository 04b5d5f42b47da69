// Rounds whose chunks are compressed on every link, through whole nodes: replicas stay identical and nothing is lost.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/test_cluster.h"

namespace banyan {
namespace {

constexpr KeyId kKey(1);
constexpr int kNodes = 3;
constexpr int kElements = 400;

class CompressedRoundsTest : public ::testing::Test {
 protected:
  // Codec `codec` at that ratio on every link of a chain of three, in chunks of 100 elements.
  void Start(CompressionRule rule, AggregationOp op = AggregationOp::kMean) {
    JobConfig config;
    config.job = "job";
    config.aggregation.op = op;
    config.chunk_max_elements = 100;
    config.compression.rules = {std::move(rule)};
    config.compression.least_elements = 1;
    cluster_.emplace(config, TestPlan::Chain(kNodes));
    cluster_->Start();
    cluster_->InitEverywhere(std::vector<float>(kElements));
    cluster_->filter = [this](uint32_t, uint32_t, const Message& message) {
      if (const auto* chunk = std::get_if<ChunkMessage>(&message)) {
        for (const FrameHeader& frame : chunk->frames) {
          codecs_.insert(frame.codec);
          frame_bytes_ += frame.size_bytes;
        }
      }
      return TestCluster::Fate::kDeliver;
    };
  }

  std::vector<float> RandomGradient() {
    std::vector<float> gradient(kElements);
    for (float& value : gradient) value = static_cast<float>(random_.Unit() - 0.5);
    return gradient;
  }

  // Every node pushes one of these; what node 1 gets, after checking that all get the same.
  std::vector<float> RunRound(const std::vector<std::vector<float>>& gradients, bool flush = false) {
    std::vector<RequestId> requests;
    for (uint32_t node = 1; node <= kNodes; ++node) {
      const std::vector<float>& gradient = gradients[node - 1];
      requests.push_back(flush ? cluster_->Flush(node, 0, kKey, gradient) : cluster_->Push(node, 0, kKey, gradient));
    }
    for (RequestId request : requests) {
      EXPECT_TRUE(cluster_->StatusOf(request).ok()) << cluster_->StatusOf(request);
      EXPECT_EQ(cluster_->Result(request), cluster_->Result(requests[0]));
    }
    return cluster_->Result(requests[0]);
  }

  // Pushes random gradients for so many rounds and then zeros for so many: the sums of all that was pushed and of all
  // that came back.
  void RunRounds(int rounds, int rounds_of_zeros) {
    pushed_.assign(kElements, 0);
    applied_.assign(kElements, 0);
    for (int round = 0; round < rounds + rounds_of_zeros; ++round) {
      std::vector<std::vector<float>> gradients(kNodes, std::vector<float>(kElements));
      for (std::vector<float>& gradient : gradients) {
        if (round < rounds) gradient = RandomGradient();
        for (int i = 0; i < kElements; ++i) pushed_[i] += gradient[i] / kNodes;
      }
      const std::vector<float> result = RunRound(gradients);
      for (int i = 0; i < kElements; ++i) applied_[i] += result[i];
    }
  }

  // One round of zeros, into the sum of all that came back.
  std::vector<float> Flush() {
    codecs_.clear();
    const std::vector<float> result = RunRound(std::vector(kNodes, std::vector<float>(kElements)), /*flush=*/true);
    for (int i = 0; i < kElements; ++i) applied_[i] += result[i];
    return result;
  }

  double LargestDifference() const {
    double largest = 0;
    for (int i = 0; i < kElements; ++i) largest = std::max(largest, std::abs(pushed_[i] - applied_[i]));
    return largest;
  }

  std::optional<TestCluster> cluster_;
  Random random_{11};
  std::set<CodecId> codecs_;
  int64_t frame_bytes_ = 0;
  std::vector<double> pushed_;
  std::vector<double> applied_;
};

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
