// Three nodes in a chain whose rounds are compressed: what they push and what comes back. A test fixture.
#ifndef BANYAN_NODE_TESTING_COMPRESSED_ROUNDS_FIXTURE_H_
#define BANYAN_NODE_TESTING_COMPRESSED_ROUNDS_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {

class CompressedRoundsFixture : public ::testing::Test {
 protected:
  static constexpr KeyId kKey = KeyId(1);
  static constexpr int kNodes = 3;
  static constexpr int kElements = 400;

  // `rule` on every link of a chain of three, in chunks of 100 elements.
  void Start(CompressionRule rule, AggregationOp op = AggregationOp::kMean,
             const std::vector<float>& initial = std::vector<float>(kElements)) {
    JobConfig config;
    config.trimming = trimming_;
    config.window_bytes = window_bytes_;
    config.job = "job";
    config.aggregation.op = op;
    config.chunk_max_elements = 100;
    config.compression.rules = {std::move(rule)};
    config.compression.least_elements = 1;
    cluster_.emplace(config, TestPlan::Chain(kNodes));
    cluster_->Start();
    cluster_->InitEverywhere(initial);
    cluster_->filter = [this](uint32_t, uint32_t, const Message& message) {
      if (const auto* chunk = std::get_if<ChunkMessage>(&message)) {
        for (const FrameHeader& frame : chunk->frames) {
          codecs_.insert(frame.codec);
          frame_bytes_ += frame.size_bytes;
        }
        cut_chunks_ += chunk->cut_frames > 0 ? 1 : 0;
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

  // Of the next Start.
  TrimmingConfig trimming_;
  int64_t window_bytes_ = 0;
  std::optional<TestCluster> cluster_;
  Random random_{11};
  std::set<CodecId> codecs_;
  int64_t frame_bytes_ = 0;
  int64_t cut_chunks_ = 0;
  std::vector<double> pushed_;
  std::vector<double> applied_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TESTING_COMPRESSED_ROUNDS_FIXTURE_H_
