// Server-side optimizers while trees, roots and chunks change: roots keep no state, so replicas must not notice.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

constexpr KeyId kKey(1);
constexpr int kNodes = 3;
constexpr int kElements = 50;

// Another root, or two of them, and other chunks, every other round.
struct Change {
  TestPlan plan;
  int64_t chunk_max_elements;
};

std::vector<Change> Changes() {
  const TestTree rooted_at_2{2, {{1, 2}, {3, 1}}, {{1, 2}, {3, 2}}};
  const TestTree rooted_at_3{3, {{1, 2}, {2, 3}}, {{1, 3}, {2, 1}}};
  return {{{kNodes, {rooted_at_3}, {}}, 20},
          {{kNodes, {rooted_at_2, rooted_at_3}, {}}, 7},
          {{kNodes, {rooted_at_2}, {}}, 50},
          {TestPlan::Chain(kNodes), 11}};
}

class MovingRootsTest : public ::testing::Test {
 protected:
  void Start(AggregationOp op, std::vector<CompressionRule> rules = {}) {
    JobConfig config;
    config.job = "job";
    config.aggregation.op = op;
    config.aggregation.weight_decay = weight_decay_;
    config.chunk_max_elements = 20;
    config.compression.rules = std::move(rules);
    config.compression.least_elements = 1;
    aggregation_ = config.aggregation;
    cluster_.emplace(config, TestPlan::Star(kNodes));
    cluster_->Start();
    cluster_->InitEverywhere(std::vector<float>(kElements, 1.0f));
    exact_.assign(kElements, Element());
    pushed_.assign(kElements, 0);
    roots_.clear();
    // Who sends a result that it has not got from another is a root.
    cluster_->filter = [this](uint32_t from, uint32_t to, const Message& message) {
      const auto* chunk = std::get_if<ChunkMessage>(&message);
      if (chunk == nullptr || chunk->id.half != Half::kBroadcast) return TestCluster::Fate::kDeliver;
      got_.emplace(to, chunk->id);
      if (!got_.contains({from, chunk->id})) roots_.insert(from);
      return TestCluster::Fate::kDeliver;
    };
  }

  // Every node pushes a random gradient, or zeros in a flush; what all of them get, the same everywhere.
  std::vector<float> RunRound(bool flush = false) {
    std::vector<double> mean(kElements);
    std::vector<RequestId> requests;
    for (uint32_t node = 1; node <= kNodes; ++node) {
      std::vector<float> gradient(kElements);
      for (int i = 0; i < kElements && !flush; ++i) gradient[i] = static_cast<float>(random_.Unit() - 0.3);
      for (int i = 0; i < kElements; ++i) mean[i] += double{gradient[i]} / kNodes;
      requests.push_back(flush ? cluster_->Flush(node, 0, kKey, gradient) : cluster_->Push(node, 0, kKey, gradient));
    }
    for (int i = 0; i < kElements; ++i) exact_[i].Step(aggregation_, mean[i]), pushed_[i] += mean[i];
    for (RequestId request : requests) {
      EXPECT_TRUE(cluster_->StatusOf(request).ok()) << cluster_->StatusOf(request);
      EXPECT_EQ(cluster_->Result(request), cluster_->Result(requests[0]));
    }
    EXPECT_THAT(cluster_->scheduler().unequal_hashes, testing::IsEmpty());
    return cluster_->Result(requests[0]);
  }

  // Runs two rounds under each of the plans; `check` gets what workers got.
  template <typename Check>
  void RunRounds(Check check) {
    for (const Change& change : Changes()) {
      for (int i = 0; i < 2; ++i) check(RunRound());
      cluster_->scheduler().UsePlan(change.plan, change.chunk_max_elements);
    }
    for (int i = 0; i < 2; ++i) check(RunRound());
  }

  // One parameter as one process with all gradients would train it, in double precision.
  struct Element {
    double value = 1, velocity = 0, m = 0, v = 0, beta1_power = 1, beta2_power = 1;

    void Step(const AggregationConfig& config, double gradient) {
      const double g = gradient + config.weight_decay * value;
      velocity = config.momentum * velocity + g;
      m = config.beta1 * m + (1 - config.beta1) * g;
      v = config.beta2 * v + (1 - config.beta2) * g * g;
      beta1_power *= config.beta1;
      beta2_power *= config.beta2;
      double step = g;
      if (config.op == AggregationOp::kMomentum) step = velocity;
      if (config.op == AggregationOp::kNesterov) step = g + config.momentum * velocity;
      if (config.op == AggregationOp::kAdam) {
        step = m / (1 - beta1_power) / (std::sqrt(v / (1 - beta2_power)) + config.epsilon);
      }
      value -= config.learning_rate * step;
    }
  };

  double weight_decay_ = 0;
  AggregationConfig aggregation_;
  std::optional<TestCluster> cluster_;
  Random random_{17};
  std::vector<Element> exact_;
  std::vector<double> pushed_;  // the sum of all means
  std::set<std::pair<uint32_t, ChunkId>> got_;
  std::set<uint32_t> roots_;
};

TEST_F(MovingRootsTest, EveryOptimizerTrainsAsOneProcessWould) {
  weight_decay_ = 0.1;
  for (AggregationOp op :
       {AggregationOp::kSgd, AggregationOp::kMomentum, AggregationOp::kNesterov, AggregationOp::kAdam}) {
    Start(op);
    RunRounds([this](const std::vector<float>& parameters) {
      for (int i = 0; i < kElements; ++i) ASSERT_NEAR(parameters[i], exact_[i].value, 1e-5) << i;
    });
    EXPECT_THAT(roots_, testing::ElementsAre(1, 2, 3));
  }
}

TEST_F(MovingRootsTest, APullGivesTheParameters) {
  Start(AggregationOp::kAdam);
  const std::vector<float> parameters = RunRound();
  EXPECT_EQ(cluster_->Result(cluster_->Pull(2, 0, kKey)), parameters);
}

TEST_F(MovingRootsTest, ReplicasAreIdenticalWhateverEncodingsDrop) {
  for (CodecId codec : {CodecId::kTopK, CodecId::kInt8, CodecId::kSign, CodecId::kFp16}) {
    CompressionRule rule{.codec = codec};
    if (codec == CodecId::kTopK) rule.numbers = {{"ratio", 0.1}};
    Start(AggregationOp::kAdam, {rule});
    double difference = 0;
    RunRounds([&](const std::vector<float>& parameters) {
      for (int i = 0; i < kElements; ++i) difference = std::max(difference, std::abs(parameters[i] - exact_[i].value));
    });
    EXPECT_GT(difference, 1e-6) << "an encoding that drops nothing proves nothing";
    EXPECT_THAT(roots_, testing::ElementsAre(1, 2, 3));
  }
}

// Residuals of all nodes, the former roots' among them, are in units of the sum: a flush brings all of them.
TEST_F(MovingRootsTest, WhatFormerRootsKeptBackIsNotLost) {
  Start(AggregationOp::kSgd, {{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.05}}}});
  RunRounds([](const std::vector<float>&) {});
  const std::vector<float> parameters = RunRound(/*flush=*/true);
  for (int i = 0; i < kElements; ++i) {
    EXPECT_NEAR(parameters[i], 1 - aggregation_.learning_rate * pushed_[i], 1e-6);
  }
}

TEST_F(MovingRootsTest, EveryMemberCountsItsOptimizersMemory) {
  Start(AggregationOp::kAdam);
  RunRound();
  cluster_->Advance(absl::Seconds(2));
  for (uint32_t node = 1; node <= kNodes; ++node) {
    EXPECT_EQ(cluster_->Memory(node, "optimizer"), 2 * kElements * sizeof(float));
    EXPECT_EQ(cluster_->Memory(node, "replicas"), kElements * sizeof(float));
  }
}

}  // namespace
}  // namespace banyan
