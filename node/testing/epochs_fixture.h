// A TestCluster whose members change. A test fixture.
#ifndef BANYAN_NODE_TESTING_EPOCHS_FIXTURE_H_
#define BANYAN_NODE_TESTING_EPOCHS_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {

inline JobConfig EpochConfig(uint32_t rounds_in_flight = 1) {
  JobConfig config;
  config.job = "job";
  config.aggregation.op = AggregationOp::kSum;
  config.chunk_max_elements = 2;
  config.rounds_in_flight = rounds_in_flight;
  return config;
}

// A tree in which the first of `members` is the root and the others hang on the one before them.
inline TestPlan ChainOf(const std::vector<uint32_t>& members) {
  TestTree tree;
  tree.root = members.front();
  uint32_t most = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    most = std::max(most, members[i]);
    if (i > 0) tree.reduce[members[i]] = tree.broadcast[members[i]] = members[i - 1];
  }
  return {most, {tree}, {}};
}

class EpochsFixture : public ::testing::Test {
 protected:
  static constexpr KeyId kKey = KeyId(1);

  // All members of a star around node 1, with "w" initialised.
  void Start(uint32_t nodes, JobConfig config = EpochConfig()) {
    cluster_.emplace(std::move(config), TestPlan::Star(nodes));
    cluster_->Start();
    cluster_->InitEverywhere({0, 0, 0});
  }
  RequestId Push(uint32_t node, float value) { return cluster_->Push(node, 0, kKey, {value, 10 * value, 100 * value}); }
  static auto Sum(float value) { return ::testing::ElementsAre(value, 10 * value, 100 * value); }
  // Nothing of this half passes between these nodes.
  void Drop(Half half, uint32_t from, std::set<uint32_t> to, std::set<uint32_t> chunks = {0, 1}) {
    cluster_->filter = [=](uint32_t source, uint32_t destination, const Message& message) {
      const auto* chunk = std::get_if<ChunkMessage>(&message);
      const bool is_dropped = chunk != nullptr && chunk->id.half == half && source == from &&
                              to.contains(destination) && chunks.contains(chunk->id.chunk.value());
      return is_dropped ? TestCluster::Fate::kDrop : TestCluster::Fate::kDeliver;
    };
  }
  void ExpectNothingRejected() {
    cluster_->Advance(absl::Seconds(1));
    for (uint32_t node = 1; node <= 3; ++node) EXPECT_EQ(cluster_->Rejected(node), 0u) << node;
    EXPECT_THAT(cluster_->scheduler().unequal_hashes, ::testing::IsEmpty());
    EXPECT_THAT(cluster_->job_ends(), ::testing::IsEmpty());
  }

  std::optional<TestCluster> cluster_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TESTING_EPOCHS_FIXTURE_H_
