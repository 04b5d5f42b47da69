#include <gtest/gtest.h>

#include "topology/planners/planners.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(BktPlannerTest, FillsLevelsInOrderOfId) {
  PlannerConfig config;
  config.root = NodeId(3);
  config.arity = 2;
  const absl::StatusOr<Policy> policy = PlanBkt(CompleteNetwork(7, 1), config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  const std::map<NodeId, NodeId> expected = {{NodeId(1), NodeId(3)}, {NodeId(2), NodeId(3)}, {NodeId(4), NodeId(1)},
                                             {NodeId(5), NodeId(1)}, {NodeId(6), NodeId(2)}, {NodeId(7), NodeId(2)}};
  EXPECT_EQ(policy->trees[0].reduce_parent, expected);
  EXPECT_EQ(policy->trees[0].broadcast_parent, expected);
}

TEST(BktPlannerTest, ArityOneIsAChain) {
  PlannerConfig config;
  config.root = NodeId(1);
  config.arity = 1;
  const absl::StatusOr<Policy> policy = PlanBkt(CompleteNetwork(4, 1), config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->trees[0].reduce_parent.at(NodeId(4)), NodeId(3));
}

TEST(BktPlannerTest, RefusesArityZero) {
  PlannerConfig config;
  config.arity = 0;
  EXPECT_EQ(PlanBkt(CompleteNetwork(4, 1), config).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace banyan
