#include <algorithm>
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "topology/evaluation/round_time.h"
#include "topology/fit/model_fit.h"
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

TEST(ShareSearchTest, MostRoundsBecomeShorterAndNoneLonger) {
  int shorter = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const NetworkView view = RandomNetwork(9, 8, seed);
    const Policy planned = Packed(view);
    for (const std::vector<PlannedTensor>& tensors :
         {std::vector<PlannedTensor>{11'500'000}, {900'000, 70'000, 3'000'000}}) {
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

TEST(ShareSearchTest, TheTreeThatIsDoneLastGetsFewer) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {1, 3, 10}, {3, 1, 10}, {2, 3, 10}, {3, 2, 10}});
  const NodeId a(1), b(2), c(3);
  Policy policy = Packed(view);
  policy.chunk_max_elements = 1000;
  policy.trees = {Tree{b, 0.6, {{a, b}, {c, b}}, {{a, b}, {c, b}}}, Tree{a, 0.4, {{c, a}, {b, c}}, {{c, a}, {b, c}}}};
  const RoundPrediction before = PredictRound(policy, view, {20'000});
  const auto latest = std::max_element(before.tree_times.begin(), before.tree_times.end());
  const auto last = static_cast<size_t>(latest - before.tree_times.begin());
  const double share = policy.trees[last].share;
  SearchShares(view, {20'000}, policy);
  EXPECT_LT(PredictRoundTime(policy, view, {20'000}), before.time);
  EXPECT_LT(policy.trees[last].share, share);
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
