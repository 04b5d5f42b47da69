// Rounds with values that are no finite numbers, or that a codec's format cannot hold, through whole nodes.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr KeyId kKey(1);
constexpr int kElements = 400;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Values = std::vector<float>;

class NotFiniteRoundsTest : public ::testing::Test {
 protected:
  // A chain of `nodes`, in chunks of 100 elements.
  void Start(uint32_t nodes, AggregationConfig aggregation, std::optional<CompressionRule> rule = std::nullopt,
             uint32_t workers = 1) {
    JobConfig config;
    config.job = "job";
    config.aggregation = aggregation;
    config.chunk_max_elements = 100;
    config.workers = workers;
    if (rule.has_value()) config.compression.rules = {*rule};
    config.compression.least_elements = 1;
    nodes_ = nodes;
    workers_ = workers;
    cluster_.emplace(config, TestPlan::Chain(nodes));
    cluster_->Start();
    for (uint32_t node = 1; node <= nodes; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster_->Attach(node, worker);
    }
    for (uint32_t node = 1; node <= nodes; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster_->Init(node, worker, "w", Values(kElements));
    }
  }

  // All workers push these, of node 1 first. Returns what all of them get.
  Values RunRound(const std::vector<Values>& gradients) {
    std::vector<RequestId> requests;
    for (uint32_t i = 0; i < nodes_ * workers_; ++i) {
      requests.push_back(cluster_->Push(1 + i / workers_, i % workers_, kKey, gradients[i]));
    }
    for (const RequestId request : requests) {
      EXPECT_TRUE(cluster_->StatusOf(request).ok()) << cluster_->StatusOf(request);
      // As bits: NaN is not equal to itself.
      const Values& one = cluster_->Result(request);
      const Values& other = cluster_->Result(requests[0]);
      EXPECT_TRUE(one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0);
    }
    return cluster_->Result(requests[0]);
  }

  static Values All(float value) { return Values(kElements, value); }
  static Values AllBut(int index, float odd, float value) {
    Values values = All(value);
    values[index] = odd;
    return values;
  }
  bool HasLog(const std::string& text) const {
    return std::any_of(cluster_->logs().begin(), cluster_->logs().end(),
                       [&text](const LogLine& line) { return line.text.find(text) != std::string::npos; });
  }

  std::optional<TestCluster> cluster_;
  uint32_t nodes_ = 0;
  uint32_t workers_ = 1;
};

TEST_F(NotFiniteRoundsTest, HalvesDoNotOverflowInSumsOnTheWay) {
  Start(4, {AggregationOp::kMean}, CompressionRule{.codec = CodecId::kFp16});
  EXPECT_THAT(RunRound(std::vector<Values>(4, All(40000))), Each(40000));
  // Of two infinities one is real: it stays.
  const Values result = RunRound({All(1), AllBut(5, -kInfinity, 60000), All(1), All(60002)});
  EXPECT_EQ(result[5], -kInfinity);
  EXPECT_EQ(result[6], 30000);  // as far as halves go
}

TEST_F(NotFiniteRoundsTest, ASumBeyondHalvesIsARightResult) {
  Start(4, {AggregationOp::kSum}, CompressionRule{.codec = CodecId::kFp16});
  EXPECT_THAT(RunRound(std::vector<Values>(4, All(40000))), Each(160000));
}

TEST_F(NotFiniteRoundsTest, AfterOneIsKeptLaterRoundsAreFinite) {
  for (const CodecId codec : {CodecId::kFp16, CodecId::kBf16, CodecId::kInt8, CodecId::kInt4, CodecId::kSign,
                              CodecId::kTernary, CodecId::kTopK, CodecId::kRandomK, CodecId::kOneBitRht}) {
    for (const float odd : {kNaN, kInfinity}) {
      CompressionRule rule{.codec = codec};
      if (TraitsOf(codec)->is_sparse) rule.numbers = {{"ratio", 0.1}};
      Start(3, {AggregationOp::kMean}, rule);
      RunRound({All(1), All(1), All(1)});
      RunRound({All(1), AllBut(7, odd, 1), All(1)});
      for (int round = 0; round < 3; ++round) {
        for (const float value : RunRound({All(1), All(1), All(1)})) {
          ASSERT_TRUE(std::isfinite(value)) << "codec " << static_cast<int>(codec) << " after " << odd;
        }
      }
    }
  }
}

TEST_F(NotFiniteRoundsTest, NodeAndKeyAreNamed) {
  Start(3, {AggregationOp::kMean});
  RunRound({All(1), AllBut(7, kNaN, 1), All(1)});
  Values two = AllBut(7, kNaN, 1);
  two[8] = -kInfinity;
  EXPECT_TRUE(std::isnan(RunRound({All(1), two, All(1)})[7]));
  EXPECT_TRUE(HasLog("key 'w' round 1: worker 0 pushed NaN or infinity in 1 of 400 values"));
  cluster_->Advance(absl::Seconds(2));
  const std::vector<NodeReport> reports = cluster_->scheduler().Said<NodeReport>(2);
  ASSERT_FALSE(reports.empty());
  EXPECT_THAT(reports.back().not_finite, ElementsAre(NodeReport::NotFinite{kKey, 3, Round(2)}));
  EXPECT_TRUE(cluster_->scheduler().Said<NodeReport>(1).back().not_finite.empty());
}

TEST_F(NotFiniteRoundsTest, WhoIsSkippedHasNoWeight) {
  AggregationConfig aggregation{.op = AggregationOp::kMean, .not_finite = NotFiniteRule::kSkip};
  for (const std::optional<CompressionRule>& rule :
       {std::optional<CompressionRule>(), std::optional<CompressionRule>({.codec = CodecId::kFp16})}) {
    Start(3, aggregation, rule);
    // A root, an inner node and a leaf.
    EXPECT_THAT(RunRound({AllBut(7, kNaN, 1), All(2), All(4)}), Each(3));
    EXPECT_THAT(RunRound({All(1), AllBut(0, kInfinity, 2), All(4)}), Each(2.5));
    EXPECT_THAT(RunRound({All(1), All(2), AllBut(399, -kInfinity, 4)}), Each(1.5));
    EXPECT_THAT(RunRound({AllBut(1, kNaN, 1), All(2), AllBut(2, kNaN, 4)}), Each(2));
    EXPECT_THAT(RunRound({All(1), All(2), All(3)}), Each(2));
  }
}

TEST_F(NotFiniteRoundsTest, ARoundInWhichAllAreSkippedHasZeros) {
  Start(3, {.op = AggregationOp::kMean, .not_finite = NotFiniteRule::kSkip});
  EXPECT_THAT(RunRound(std::vector<Values>(3, AllBut(7, kNaN, 1))), Each(0));
  EXPECT_THAT(RunRound({All(1), All(2), All(3)}), Each(2));
}

TEST_F(NotFiniteRoundsTest, OfSeveralWorkersOneIsSkipped) {
  Start(2, {.op = AggregationOp::kMean, .not_finite = NotFiniteRule::kSkip}, std::nullopt, 2);
  EXPECT_THAT(RunRound({All(1), AllBut(3, kNaN, 100), All(2), All(3)}), Each(2));
  EXPECT_THAT(RunRound({AllBut(3, kNaN, 1), AllBut(3, kNaN, 1), All(2), All(3)}), Each(2.5));
  EXPECT_THAT(RunRound({All(1), All(1), All(2), All(4)}), Each(2));
}

TEST_F(NotFiniteRoundsTest, ASkippedWorkerThatDiesLeavesTheWeightRight) {
  Start(2, {.op = AggregationOp::kMean, .not_finite = NotFiniteRule::kSkip}, std::nullopt, 2);
  cluster_->Push(1, 0, kKey, AllBut(3, kNaN, 100));
  cluster_->Detach(1, 0, /*clean=*/false);
  const RequestId push = cluster_->Push(1, 1, kKey, All(1));
  cluster_->Push(2, 0, kKey, All(2));
  cluster_->Push(2, 1, kKey, All(6));
  EXPECT_THAT(cluster_->Result(push), Each(3));
}

// Of what compression keeps back nothing is lost, and nothing waits for the next round but where all are skipped.
TEST_F(NotFiniteRoundsTest, AFlushBringsTheResidualsOfWhoIsSkipped) {
  const auto flush = [this](const std::vector<Values>& gradients) {
    std::vector<RequestId> requests;
    for (uint32_t node = 1; node <= nodes_; ++node) {
      requests.push_back(cluster_->Flush(node, 0, kKey, gradients[node - 1]));
    }
    return cluster_->Result(requests[0]);
  };
  for (const int skipped : {1, 2, 3, 0}) {
    SCOPED_TRACE(skipped);
    Start(3, {.op = AggregationOp::kSum, .not_finite = NotFiniteRule::kSkip},
          CompressionRule{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.1}}});
    Values sum = RunRound({All(1), All(2), All(4)});
    std::vector<Values> gradients(3, All(0));
    for (int node = 1; node <= 3; ++node) {
      if (node == skipped || skipped == 0) gradients[node - 1] = AllBut(7, kNaN, 0);
    }
    Values flushed = flush(gradients);
    if (skipped == 0) {
      EXPECT_THAT(flushed, Each(0));
      flushed = flush(std::vector<Values>(3, All(0)));
    }
    for (int i = 0; i < kElements; ++i) sum[i] += flushed[i];
    EXPECT_THAT(sum, Each(7));
  }
}

TEST_F(NotFiniteRoundsTest, ATrainingMayEndWithThem) {
  Start(3, {.op = AggregationOp::kMean, .not_finite = NotFiniteRule::kFail});
  EXPECT_THAT(RunRound({All(1), All(2), All(3)}), Each(2));
  const RequestId waiting = cluster_->Push(1, 0, kKey, All(1));
  const RequestId odd = cluster_->Push(2, 0, kKey, AllBut(7, kNaN, 1));
  const auto is_named = AllOf(HasSubstr("n2"), HasSubstr("round 2"), HasSubstr("key 'w'"),
                              HasSubstr("worker 0 pushed NaN or infinity in 1 of 400 values"));
  EXPECT_THAT(std::string(cluster_->StatusOf(odd).message()), is_named);
  // The scheduler tells the others.
  EXPECT_THAT(std::string(cluster_->StatusOf(waiting).message()), is_named);
  const std::vector<RoundBroken> broken = cluster_->scheduler().Said<RoundBroken>(2);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].key, kKey);
  EXPECT_EQ(broken[0].round, Round(2));
  EXPECT_THAT(broken[0].reason, HasSubstr("NaN or infinity"));
}

}  // namespace
}  // namespace banyan
