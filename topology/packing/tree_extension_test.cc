#include <gtest/gtest.h>

#include <map>
#include <set>

#include "topology/packing/packed_planner.h"
#include "topology/policy_check.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

std::vector<Tree> PlannedTrees(const NetworkView& view) {
  absl::StatusOr<Policy> policy = PlanPacked(view, {});
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? policy->trees : std::vector<Tree>();
}

std::set<NodeId> Members(const NetworkView& view) {
  std::set<NodeId> members;
  for (const NetworkNode& node : view.nodes()) members.insert(node.id);
  return members;
}

TEST(ExtendTreesTest, WithoutNewNodesTheyStay) {
  const NetworkView view = Internet2Network();
  const std::vector<Tree> trees = PlannedTrees(view);
  EXPECT_EQ(ExtendTrees(trees, view), trees);
}

TEST(ExtendTreesTest, NewNodesAreLeaves) {
  const NetworkView view = MeshNetwork(MeshRates::kUneven, 8, 1);
  const std::vector<Tree> trees = PlannedTrees(FirstNodes(view, 6));
  const std::vector<Tree> extended = ExtendTrees(trees, view);
  ASSERT_EQ(extended.size(), trees.size());
  for (const Tree& tree : extended) {
    EXPECT_TRUE(CheckTree(tree, Members(view), view).ok());
    for (const auto& [node, parent] : tree.reduce_parent) EXPECT_NE(parent, NodeId(8));
  }
}

TEST(ExtendTreesTest, SpreadsOverTheNewNodesLinks) {
  const NetworkView view = MeshNetwork(MeshRates::kEqual, 5, 1);
  std::vector<Tree> trees;
  for (uint32_t root = 1; root <= 4; ++root) {
    Tree tree{.root = NodeId(root), .share = 0.25, .reduce_parent = {}, .broadcast_parent = {}};
    for (uint32_t node = 1; node <= 4; ++node) {
      if (node != root) tree.reduce_parent[NodeId(node)] = NodeId(root);
    }
    tree.broadcast_parent = tree.reduce_parent;
    trees.push_back(tree);
  }
  std::set<NodeId> parents;
  for (const Tree& tree : ExtendTrees(trees, view)) parents.insert(tree.reduce_parent.at(NodeId(5)));
  EXPECT_EQ(parents.size(), 4u);
}

TEST(ExtendTreesTest, LeavesOutWhatDoesNotFit) {
  const NetworkView view = MeshNetwork(MeshRates::kUneven, 6, 1);
  const std::vector<Tree> trees = PlannedTrees(view);
  EXPECT_TRUE(ExtendTrees(trees, FirstNodes(view, 5)).empty());
  const NetworkView one_way = SampleNetwork(3, {{1, 2, 1}, {2, 1, 1}, {1, 3, 1}});
  EXPECT_TRUE(ExtendTrees(PlannedTrees(FirstNodes(one_way, 2)), one_way).empty());
}

TEST(PruneTreesTest, WhoHungOnANodeThatIsGoneHangsOnTheNextOne) {
  const NetworkView view = MeshNetwork(MeshRates::kUneven, 8, 1);
  const NodeId gone(3);
  std::vector<NodeId> left;
  for (const NetworkNode& node : view.nodes()) {
    if (node.id != gone) left.push_back(node.id);
  }
  const NetworkView smaller = *view.Restrict(left);
  const std::vector<Tree> trees = PlannedTrees(view);
  const std::vector<Tree> pruned = PruneTrees(trees, smaller);
  ASSERT_FALSE(pruned.empty());
  size_t others = 0;
  for (const Tree& tree : trees) others += tree.root == gone ? 0 : 1;
  EXPECT_EQ(pruned.size(), others);
  for (const Tree& tree : pruned) EXPECT_TRUE(CheckTree(tree, Members(smaller), smaller).ok());

  Tree chain{.root = NodeId(1), .share = 1, .reduce_parent = {}, .broadcast_parent = {}};
  for (uint32_t node = 2; node <= 5; ++node) chain.reduce_parent[NodeId(node)] = NodeId(node - 1);
  chain.broadcast_parent = chain.reduce_parent;
  const Tree of_chain = PruneTrees({chain}, *view.Restrict({NodeId(1), NodeId(2), NodeId(5)})).front();
  const std::map<NodeId, NodeId> parents = {{NodeId(2), NodeId(1)}, {NodeId(5), NodeId(2)}};
  EXPECT_EQ(of_chain.reduce_parent, parents);
  EXPECT_EQ(of_chain.broadcast_parent, parents);
}

}  // namespace
}  // namespace banyan
