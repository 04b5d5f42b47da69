#include "topology/fit/share_search.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "topology/planner.h"
#include "topology/round_time.h"
#include "topology/sample_networks.h"

namespace banyan {
namespace {

Policy Packed(const NetworkView& view) {
  PlannerConfig config;
  config.planner = "packed";
  return *MakePolicy(view, config);
}

TEST(ShareSearchTest, MostRoundsBecomeShorterAndNoneLonger) {
  int shorter = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const NetworkView view = RandomNetwork(9, 8, seed);
    const Policy planned = Packed(view);
    for (const std::vector<int64_t>& tensors : {std::vector<int64_t>{11'500'000}, {900'000, 70'000, 3'000'000}}) {
      Policy searched = planned;
      SearchShares(view, tensors, searched);
      const absl::Duration before = PredictRoundTime(planned, view, tensors);
      const absl::Duration after = PredictRoundTime(searched, view, tensors);
      EXPECT_LE(after, before);
      if (after < 0.99 * before) ++shorter;
      double sum = 0;
      for (const Tree& tree : searched.trees) {
        EXPECT_GT(tree.share, 0);
        sum += tree.share;
      }
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
  EXPECT_GE(shorter, 6) << "of 10";
}

// Both trees have the same rate, but the chunks of one pass a link more each way: the other gets more of them.
TEST(ShareSearchTest, TheTreeThatIsDoneLastGetsFewer) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {1, 3, 10}, {3, 1, 10}, {2, 3, 10}, {3, 2, 10}});
  const NodeId a(1), b(2), c(3);
  Policy policy = Packed(view);
  policy.chunk_max_elements = 1000;
  // The links of the second tree are its own: c to a to b, and back.
  policy.trees = {Tree{b, 0.6, {{a, b}, {c, b}}, {{a, b}, {c, b}}}, Tree{a, 0.4, {{c, a}, {b, c}}, {{c, a}, {b, c}}}};
  const absl::Duration before = PredictRoundTime(policy, view, {20'000});
  SearchShares(view, {20'000}, policy);
  EXPECT_LT(PredictRoundTime(policy, view, {20'000}), before);
}

TEST(ShareSearchTest, OneTreeKeepsAll) {
  const NetworkView view = SampleNetwork(2, {{1, 2, 10}, {2, 1, 10}});
  Policy policy = Packed(view);
  SearchShares(view, {1000}, policy);
  ASSERT_EQ(policy.trees.size(), 1u);
  EXPECT_EQ(policy.trees[0].share, 1);
}

}  // namespace
}  // namespace banyan
