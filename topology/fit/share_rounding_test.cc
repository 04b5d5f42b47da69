#include "topology/fit/share_rounding.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

Policy Packed(const NetworkView& view) {
  PlannerConfig config;
  config.planner = "packed";
  return *MakePolicy(view, config);
}

double SumOfShares(const Policy& policy) {
  return std::accumulate(policy.trees.begin(), policy.trees.end(), 0.0,
                         [](double sum, const Tree& tree) { return sum + tree.share; });
}

TEST(ShareRoundingTest, NeverLowersTheRateAndOftenRaisesIt) {
  int higher = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const NetworkView view = DrawnInternet2Network(seed);
    const Policy planned = Packed(view);
    for (const std::vector<PlannedTensor>& tensors :
         {std::vector<PlannedTensor>{2'500'000}, {11'500'000}, {900'000, 70'000, 3'000'000}}) {
      Policy rounded = planned;
      RoundShares(view, tensors, rounded);
      const double before_bps = ChunkedRateBps(planned, view, tensors);
      const double after_bps = ChunkedRateBps(rounded, view, tensors);
      EXPECT_GE(after_bps, before_bps);
      EXPECT_LE(after_bps, planned.bound_bps);
      EXPECT_NEAR(SumOfShares(rounded), 1, 1e-9);
      if (after_bps > 1.001 * before_bps) ++higher;
    }
  }
  EXPECT_GE(higher, 10) << "of 30";
}

TEST(ShareRoundingTest, ChunksEndWhereSlicesDo) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {1, 3, 10}, {3, 1, 10}, {2, 3, 30}, {3, 2, 30}});
  const NodeId a(1), b(2), c(3);
  Policy policy = Packed(view);
  policy.chunk_max_elements = 100;
  policy.trees = {Tree{a, 0.5, {{b, a}, {c, b}}, {{b, a}, {c, b}}}, Tree{a, 0.5, {{c, a}, {b, c}}, {{c, a}, {b, c}}}};
  EXPECT_EQ(ChunkedShares(policy, {200}), (std::vector<double>{0.5, 0.5}));
  // Slices of 20, 100 and 80 elements.
  const std::vector<double> shares = ChunkedShares(policy, {PlannedTensor(200, 4, {20, 120})});
  EXPECT_NEAR(std::min(shares[0], shares[1]), 0.5, 0.01);
  const std::vector<double> uneven = ChunkedShares(policy, {PlannedTensor(200, 4, {90, 180})});
  EXPECT_NEAR(std::max(uneven[0], uneven[1]), 0.55, 1e-9) << "90 and 20 of 200";
}

// Two trees of equal share and three chunks: the one over the faster links gets two.
TEST(ShareRoundingTest, TheChunkThatIsLeftOverGoesWhereThereIsRoom) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {1, 3, 10}, {3, 1, 10}, {2, 3, 30}, {3, 2, 30}});
  const NodeId a(1), b(2), c(3);
  Policy policy = Packed(view);
  policy.chunk_max_elements = 100;
  policy.trees = {Tree{a, 0.5, {{b, a}, {c, b}}, {{b, a}, {c, b}}}, Tree{a, 0.5, {{c, a}, {b, c}}, {{c, a}, {b, c}}}};
  RoundShares(view, {300}, policy);
  // Either way one link of a carries two of three chunks: nothing is better, and nothing changes.
  EXPECT_EQ(policy.trees[0].share, 0.5);
  const NetworkView faster = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {1, 3, 20}, {3, 1, 20}, {2, 3, 30}, {3, 2, 30}});
  policy.trees[0].share = 0.6;
  policy.trees[1].share = 0.4;
  RoundShares(faster, {300}, policy);
  EXPECT_NEAR(policy.trees[0].share, 1.0 / 3, 1e-9);
  EXPECT_NEAR(ChunkedRateBps(policy, faster, {300}), 30e6, 1);
}

TEST(ShareRoundingTest, ATreeNeverLosesItsLastChunk) {
  const NetworkView view = Internet2Network();
  Policy policy = Packed(view);
  const std::vector<Tree> before = policy.trees;
  policy.chunk_max_elements = 1'000'000;
  RoundShares(view, {3'000'000}, policy);
  EXPECT_EQ(policy.trees, before);
}

}  // namespace
}  // namespace banyan
