#include "topology/planners/custom_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

Tree OnRoot(uint32_t root, double share, std::map<NodeId, NodeId> parents) {
  return {.root = NodeId(root), .share = share, .reduce_parent = parents, .broadcast_parent = parents};
}

PlannerConfig Custom(std::vector<Tree> trees) {
  PlannerConfig config;
  config.trees = std::move(trees);
  return config;
}

const std::map<NodeId, NodeId>& ToMiddle() {
  static const auto* const parents = new std::map<NodeId, NodeId>{{NodeId(1), NodeId(2)}, {NodeId(3), NodeId(2)}};
  return *parents;
}

TEST(CustomPlannerTest, KeepsTreesAndShares) {
  const std::vector<Tree> trees = {OnRoot(2, 0.25, ToMiddle()),
                                   OnRoot(1, 0.75, {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(1)}})};
  const absl::StatusOr<Policy> policy = CustomPlanner().Plan(TriangleNetwork(), Custom(trees));
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->trees, trees);
}

TEST(CustomPlannerTest, TreesWithoutSharesGetThemByQuality) {
  const absl::StatusOr<Policy> policy = CustomPlanner().Plan(
      TriangleNetwork(),
      Custom({OnRoot(2, 0, ToMiddle()), OnRoot(1, 0, {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(2)}})}));
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_NEAR(policy->trees[0].share, 2.0 / 3, 1e-12);
}

TEST(CustomPlannerTest, RefusesWhatIsNoTree) {
  const auto refusal = [](std::vector<Tree> trees) {
    return std::string(CustomPlanner().Plan(TriangleNetwork(), Custom(std::move(trees))).status().message());
  };
  EXPECT_THAT(refusal({}), HasSubstr("at least one tree"));
  EXPECT_THAT(refusal({OnRoot(2, 1, {{NodeId(1), NodeId(2)}})}), HasSubstr("does not reach 'n3'"));
  EXPECT_THAT(refusal({OnRoot(2, 1, {{NodeId(1), NodeId(3)}, {NodeId(3), NodeId(1)}})}), HasSubstr("cycle"));
  EXPECT_THAT(refusal({OnRoot(2, 0.5, ToMiddle())}), HasSubstr("sum to 1"));
}

}  // namespace
}  // namespace banyan
