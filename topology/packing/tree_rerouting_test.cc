#include "topology/packing/tree_rerouting.h"

#include <gtest/gtest.h>

#include "topology/plan_rate.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"
#include "topology/sample_networks.h"

namespace banyan {
namespace {

Policy Fapt(const NetworkView& view, const std::vector<FixedRoot>& roots) {
  PlannerConfig config;
  config.planner = "fapt";
  config.fixed_roots = roots;
  return *MakePolicy(view, config);
}

Policy Rerouted(Policy policy, const NetworkView& view) {
  policy.trees = RerouteTrees(view, policy.trees);
  EXPECT_TRUE(ValidatePolicy(policy, view).ok()) << ValidatePolicy(policy, view);
  return policy;
}

TEST(TreeReroutingTest, KeepsRootsAndSharesAndIsNeverSlower) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const NetworkView view = RandomNetwork(5 + static_cast<int>(seed), 4, seed);
    const Policy before = Fapt(view, {{NodeId(1), 0.5}, {NodeId(2), 0.2}, {NodeId(1), 0.2}, {NodeId(3), 0.1}});
    const Policy after = Rerouted(before, view);
    ASSERT_EQ(after.trees.size(), before.trees.size());
    for (size_t i = 0; i < before.trees.size(); ++i) {
      EXPECT_EQ(after.trees[i].root, before.trees[i].root);
      EXPECT_EQ(after.trees[i].share, before.trees[i].share);
    }
    EXPECT_GE(PlanRateBps(after, view), PlanRateBps(before, view) * (1 - 1e-9));
  }
}

// Two equal trees on one root, of which each half can have ways of its own.
TEST(TreeReroutingTest, TreesMakeWayForEachOther) {
  const NetworkView view = CompleteNetwork(6, 10);
  const Policy before = Fapt(view, {{NodeId(1), 0.5}, {NodeId(1), 0.5}});
  EXPECT_GT(PlanRateBps(Rerouted(before, view), view), 1.4 * PlanRateBps(before, view));
}

TEST(TreeReroutingTest, CapsCountToo) {
  const NetworkView view = WithCaps(CompleteNetwork(8, 100), 1, 1);
  std::vector<FixedRoot> roots;
  for (uint32_t root = 1; root <= 2; ++root) roots.push_back({NodeId(root), 0.5});
  const Policy before = Fapt(view, roots);
  EXPECT_GT(PlanRateBps(Rerouted(before, view), view), 1.1 * PlanRateBps(before, view));
}

TEST(TreeReroutingTest, ALoneNodeStays) {
  const NetworkView view = SampleNetwork(1, {});
  const Policy before = Fapt(view, {{NodeId(1), 1}});
  EXPECT_EQ(RerouteTrees(view, before.trees), before.trees);
}

}  // namespace
}  // namespace banyan
