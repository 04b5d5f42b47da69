#include <gtest/gtest.h>

#include "topology/packing/packed_trees.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// A line n1-n2-n3-n4 with a slow link from its one end to the other.
class ShallowHalvesTest : public ::testing::Test {
 protected:
  ShallowHalvesTest()
      : graph_(SampleNetwork(
            4, {{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {3, 2, 1}, {3, 4, 1}, {4, 3, 1}, {1, 4, 1}, {4, 1, 1}})) {
    for (const Arc& link : graph_.links()) {
      const bool is_closing = (link.from == 0 && link.to == 3) || (link.from == 3 && link.to == 0);
      costs_.push_back(is_closing ? 10 : 1);
      delays_.push_back(is_closing ? 1.5 : 1);
    }
  }

  CapacityGraph graph_;
  std::vector<double> costs_;
  std::vector<double> delays_;
};

TEST_F(ShallowHalvesTest, WithoutWeightLinksAreCheap) {
  for (const Half half : {Half::kReduce, Half::kBroadcast}) {
    const HalfTree tree = GrowHalf(graph_, half, 0, costs_, delays_, 0);
    EXPECT_EQ(tree.links.size(), 3u);
    EXPECT_EQ(DelayOfHalf(graph_, tree, delays_), 3);
  }
}

TEST_F(ShallowHalvesTest, WithWeightPathsAreFast) {
  for (const Half half : {Half::kReduce, Half::kBroadcast}) {
    const HalfTree tree = GrowHalf(graph_, half, 0, costs_, delays_, 100);
    EXPECT_EQ(tree.links.size(), 3u);
    EXPECT_EQ(DelayOfHalf(graph_, tree, delays_), 2);
  }
}

TEST_F(ShallowHalvesTest, DirectionsAreOfTheHalf) {
  const HalfTree reduce = GrowHalf(graph_, Half::kReduce, 2, costs_, delays_, 0);
  for (const size_t link : reduce.links) EXPECT_NE(graph_.links()[link].from, 2u);
  const HalfTree broadcast = GrowHalf(graph_, Half::kBroadcast, 2, costs_, delays_, 0);
  for (const size_t link : broadcast.links) EXPECT_NE(graph_.links()[link].to, 2u);
}

}  // namespace
}  // namespace banyan
