#include <gtest/gtest.h>

#include "topology/planners/planners.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(MstPlannerTest, AvoidsTheSlowLinkEvenAtTheCostOfHops) {
  PlannerConfig config;
  config.root = NodeId(1);
  const absl::StatusOr<Policy> policy =
      PlanMst(SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {2, 3, 10}, {3, 2, 10}, {1, 3, 9}, {3, 1, 9}}), config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->trees[0].reduce_parent.at(NodeId(3)), NodeId(2));
  EXPECT_TRUE(policy->routes.empty());
}

TEST(MstPlannerTest, EachHalfGoesByItsOwnDirection) {
  PlannerConfig config;
  config.root = NodeId(1);
  // From n3 the fast way to n1 is direct; from n1 the fast way to n3 is over n2.
  const absl::StatusOr<Policy> policy =
      PlanMst(SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {2, 3, 10}, {3, 2, 1}, {1, 3, 1}, {3, 1, 10}}), config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->trees[0].reduce_parent.at(NodeId(3)), NodeId(1));
  EXPECT_EQ(policy->trees[0].broadcast_parent.at(NodeId(3)), NodeId(2));
}

TEST(MstPlannerTest, EqualLinksAreChosenById) {
  PlannerConfig config;
  config.root = NodeId(2);
  const absl::StatusOr<Policy> policy = PlanMst(CompleteNetwork(4, 5), config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  // n1 joins under n2 first; n3 and n4 then prefer the parent with the lower id.
  const std::map<NodeId, NodeId> expected = {{NodeId(1), NodeId(2)}, {NodeId(3), NodeId(1)}, {NodeId(4), NodeId(1)}};
  EXPECT_EQ(policy->trees[0].reduce_parent, expected);
}

}  // namespace
}  // namespace banyan
