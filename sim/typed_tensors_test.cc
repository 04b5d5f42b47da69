// Jobs whose tensors are of several types: every sum is right on every node, also when messages are lost and resent,
// and when a node dies.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// What travels of each key.
class Frames : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    if (chunk == nullptr) return;
    for (const FrameHeader& frame : chunk->frames) {
      codecs[chunk->id.key].insert(frame.codec);
      bytes_per_element[chunk->id.key].insert(frame.size_bytes / frame.elements);
    }
  }

  std::map<KeyId, std::set<CodecId>> codecs;
  std::map<KeyId, std::set<int64_t>> bytes_per_element;
};

// A tensor of each type, with two workers at each of four nodes.
ClusterOptions TypedCluster() {
  ClusterOptions options = LinkedCluster(4, 2e6, 4e6);
  for (auto& node : options.overlay.nodes) node.workers = 2;
  options.plan.tensors.clear();
  for (int type = 0; type <= static_cast<int>(kLastElementType); ++type) {
    const auto of = static_cast<DataType>(type);
    options.plan.tensors.push_back({std::string(NameOf(of)), 900 + 10 * type, type % 3, of});
  }
  options.plan.rounds = 5;
  options.plan.broadcast_every = 3;
  options.plan.flush_every = 4;
  return options;
}

TEST(TypedTensorsTest, EachTravelsInItsOwnTypeAndIsSummedExactly) {
  Frames frames;
  Cluster cluster(TypedCluster());
  cluster.simulator()->network()->AddObserver(&frames);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(200))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  std::set<std::set<CodecId>> travelled;
  for (const auto& [key, codecs] : frames.codecs) travelled.insert(codecs);
  // A flush of halves brings sums in float32.
  const std::set<std::set<CodecId>> expected = {{CodecId::kFp32},
                                                {CodecId::kFp32, CodecId::kFp16},
                                                {CodecId::kFp32, CodecId::kBf16},
                                                {CodecId::kFloat64},
                                                {CodecId::kInt32},
                                                {CodecId::kInt64}};
  EXPECT_EQ(travelled, expected);
}

TEST(TypedTensorsTest, ReductionsAreNoMeansInAJobThatAverages) {
  ClusterOptions options = TypedCluster();
  options.overlay.aggregation.op = AggregationOp::kMean;
  std::erase_if(options.plan.tensors, [](const auto& tensor) { return ReductionOf(tensor.type) == Reduction::kOfJob; });
  Cluster cluster(std::move(options));
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(200))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(TypedTensorsTest, WhatIsCompressedIsNotExact) {
  ClusterOptions options = TypedCluster();
  options.overlay.compression.rules = {{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.1}}}};
  options.overlay.compression.least_elements = 1;
  Frames frames;
  Cluster cluster(std::move(options));
  cluster.simulator()->network()->AddObserver(&frames);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(200))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  int compressed = 0;
  int exact = 0;
  for (const auto& [key, codecs] : frames.codecs) {
    compressed += static_cast<int>(codecs.count(CodecId::kTopK));
    exact += codecs.size() == 1 ? 1 : 0;
  }
  EXPECT_EQ(compressed, 3);
  EXPECT_EQ(exact, static_cast<int>(kLastElementType) - 2);
}

}  // namespace
}  // namespace banyan
