#include <gtest/gtest.h>

#include "topology/packing/packed_trees.h"

namespace banyan {
namespace {

TreePacking Packing(std::vector<HalfTree> halves, std::vector<double> volumes_bps) {
  TreePacking packing;
  packing.halves = std::move(halves);
  packing.volumes_bps = std::move(volumes_bps);
  for (size_t i = 0; i < packing.halves.size(); ++i) {
    if (packing.halves[i].half == Half::kReduce) packing.rate_bps += packing.volumes_bps[i];
  }
  return packing;
}

TreePacking TwoRoots() {
  return Packing({{Half::kReduce, 0, {1}},
                  {Half::kBroadcast, 0, {1}},
                  {Half::kReduce, 0, {2}},
                  {Half::kBroadcast, 0, {2}},
                  {Half::kReduce, 3, {1}},
                  {Half::kBroadcast, 3, {1}}},
                 {3e6, 7e6, 7e6, 3e6, 5e6, 5e6});
}

TEST(LargestPairsTest, PairsEqualVolumesTheLargestFirst) {
  const std::vector<HalfPair> pairs = LargestPairs(TwoRoots(), 15e6);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].reduce, 2u);
  EXPECT_EQ(pairs[0].broadcast, 1u);
  EXPECT_EQ(pairs[1].reduce, 4u);
  EXPECT_EQ(pairs[2].reduce, 0u);
  EXPECT_EQ(pairs[2].broadcast, 3u);
  EXPECT_EQ(pairs[0].volume_bps, 7e6);
  EXPECT_EQ(pairs[2].volume_bps, 3e6);
}

TEST(LargestPairsTest, TakesAsFewAsReachTheRate) {
  EXPECT_EQ(LargestPairs(TwoRoots(), 7e6).size(), 1u);
  EXPECT_EQ(LargestPairs(TwoRoots(), 7.1e6).size(), 2u);
  EXPECT_EQ(LargestPairs(TwoRoots(), 100e6).size(), 3u);
}

TEST(LargestPairsTest, SplitsWhatHasNoEqual) {
  const TreePacking packing =
      Packing({{Half::kReduce, 0, {1}}, {Half::kBroadcast, 0, {1}}, {Half::kBroadcast, 0, {2}}}, {8e6, 5e6, 3e6});
  const std::vector<HalfPair> pairs = LargestPairs(packing, 8e6);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].volume_bps, 5e6);
  EXPECT_EQ(pairs[1].volume_bps, 3e6);
  EXPECT_EQ(pairs[1].broadcast, 2u);
}

}  // namespace
}  // namespace banyan
