#include <gtest/gtest.h>

#include "topology/planners/planners.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(StarPlannerTest, EveryoneIsAChildOfTheHub) {
  PlannerConfig config;
  config.root = NodeId(4);
  const absl::StatusOr<Policy> policy = PlanStar(Internet2Network(), config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  ASSERT_EQ(policy->trees.size(), 1u);
  EXPECT_EQ(policy->trees[0].root, NodeId(4));
  for (const auto& [node, parent] : policy->trees[0].reduce_parent) EXPECT_EQ(parent, NodeId(4));
  EXPECT_EQ(policy->trees[0].reduce_parent, policy->trees[0].broadcast_parent);
  // n4 has links with n3, n5 and n6; the other five nodes are reached over them, both ways.
  EXPECT_EQ(policy->routes.size(), 10u);
}

TEST(StarPlannerTest, TheBestHubHasTheLeastDelay) {
  const absl::StatusOr<Policy> policy = PlanStar(TriangleNetwork(), {});
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->trees[0].root, NodeId(2));
}

TEST(StarPlannerTest, AHubThatIsAwayGivesWayToTheBest) {
  PlannerConfig config;
  config.root = NodeId(10);
  const absl::StatusOr<Policy> policy = PlanStar(TriangleNetwork(), config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->trees[0].root, NodeId(2));
}

}  // namespace
}  // namespace banyan
