#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/planners/planners.h"
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
  const absl::StatusOr<Policy> policy = PlanCustom(TriangleNetwork(), Custom(trees));
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->trees, trees);
}

TEST(CustomPlannerTest, TreesWithoutSharesGetThemByQuality) {
  const absl::StatusOr<Policy> policy =
      PlanCustom(TriangleNetwork(),
                 Custom({OnRoot(2, 0, ToMiddle()), OnRoot(1, 0, {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(2)}})}));
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_NEAR(policy->trees[0].share, 2.0 / 3, 1e-12);
}

TEST(CustomPlannerTest, RefusesWhatIsNoTree) {
  const auto refusal = [](std::vector<Tree> trees) {
    return std::string(PlanCustom(TriangleNetwork(), Custom(std::move(trees))).status().message());
  };
  EXPECT_THAT(refusal({}), HasSubstr("at least one tree"));
  EXPECT_THAT(refusal({OnRoot(2, 1, {{NodeId(1), NodeId(2)}})}), HasSubstr("does not reach 'n3'"));
  EXPECT_THAT(refusal({OnRoot(2, 1, {{NodeId(1), NodeId(3)}, {NodeId(3), NodeId(1)}})}), HasSubstr("cycle"));
  EXPECT_THAT(refusal({OnRoot(2, 0.5, ToMiddle())}), HasSubstr("sum to 1"));
}

Tree Closed(const Tree& tree, const std::vector<NodeId>& members) {
  const absl::StatusOr<NetworkView> view = CompleteNetwork(6, 10).Restrict(members);
  const absl::StatusOr<Policy> policy = PlanCustom(*view, Custom({tree}));
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? policy->trees[0] : Tree();
}

// 1 <- {2 <- {3 <- 4, 5}, 6}
Tree OfSix() {
  return OnRoot(1, 1,
                {{NodeId(2), NodeId(1)},
                 {NodeId(3), NodeId(2)},
                 {NodeId(4), NodeId(3)},
                 {NodeId(5), NodeId(2)},
                 {NodeId(6), NodeId(1)}});
}

TEST(CustomPlannerTest, ChildrenOfNodesThatAreAwayGoToTheNearestMemberAbove) {
  EXPECT_EQ(Closed(OfSix(), {NodeId(1), NodeId(4), NodeId(5), NodeId(6)}),
            OnRoot(1, 1, {{NodeId(4), NodeId(1)}, {NodeId(5), NodeId(1)}, {NodeId(6), NodeId(1)}}));
}

TEST(CustomPlannerTest, TheLowestChildTakesThePlaceOfARootThatIsAway) {
  EXPECT_EQ(
      Closed(OfSix(), {NodeId(2), NodeId(3), NodeId(4), NodeId(5), NodeId(6)}),
      OnRoot(2, 1, {{NodeId(3), NodeId(2)}, {NodeId(4), NodeId(3)}, {NodeId(5), NodeId(2)}, {NodeId(6), NodeId(2)}}));
}

TEST(CustomPlannerTest, BothHalvesGetTheSameNewRoot) {
  Tree tree = OfSix();
  // 1 -> 6 -> 5 -> 2 -> {3, 4}
  tree.broadcast_parent = {{NodeId(6), NodeId(1)},
                           {NodeId(5), NodeId(6)},
                           {NodeId(2), NodeId(5)},
                           {NodeId(3), NodeId(2)},
                           {NodeId(4), NodeId(2)}};
  const Tree closed = Closed(tree, {NodeId(2), NodeId(3), NodeId(4), NodeId(5), NodeId(6)});
  EXPECT_EQ(closed.root, NodeId(2));
  EXPECT_EQ(closed.broadcast_parent,
            (std::map<NodeId, NodeId>{
                {NodeId(5), NodeId(2)}, {NodeId(6), NodeId(5)}, {NodeId(3), NodeId(2)}, {NodeId(4), NodeId(2)}}));
}

TEST(CustomPlannerTest, ClosesAroundAnySetOfAbsentNodes) {
  for (uint32_t set = 1; set < 64; ++set) {
    std::vector<NodeId> members;
    for (uint32_t id = 1; id <= 6; ++id) {
      if ((set >> (id - 1) & 1) != 0) members.push_back(NodeId(id));
    }
    const Tree closed = Closed(OfSix(), members);
    EXPECT_EQ(closed.reduce_parent.size(), members.size() - 1);
    EXPECT_EQ(closed.broadcast_parent.size(), members.size() - 1);
  }
}

}  // namespace
}  // namespace banyan
