#include "gtest/gtest.h"
#include "scheduler/transfer/transfer_control.h"

namespace banyan {
namespace {

std::vector<NodeId> Nodes(std::vector<uint32_t> ids) {
  std::vector<NodeId> nodes;
  for (uint32_t id : ids) nodes.push_back(NodeId(id));
  return nodes;
}

// A chain 1 - 2 - 3 up, its broadcast half over an edge 3 -> 1 that is no link, and an auxiliary path over 4.
Policy Chain() {
  Policy policy;
  Tree tree;
  tree.root = NodeId(3);
  tree.reduce_parent = {{NodeId(1), NodeId(2)}, {NodeId(2), NodeId(3)}};
  tree.broadcast_parent = {{NodeId(1), NodeId(3)}, {NodeId(2), NodeId(1)}};
  policy.trees = {tree};
  policy.routes = {{NodeId(3), NodeId(1), Nodes({3, 2, 1}), 0}};
  return policy;
}

TEST(HolderPathsTest, GoOverConnectionsOfThePolicy) {
  const auto paths = PathsFrom(NodeId(1), Chain());
  EXPECT_EQ(paths.at(NodeId(1)), Nodes({1}));
  EXPECT_EQ(paths.at(NodeId(2)), Nodes({1, 2}));
  EXPECT_EQ(paths.at(NodeId(3)), Nodes({1, 2, 3})) << "there is no link between the two";
  EXPECT_EQ(paths.count(NodeId(4)), 0u);
}

TEST(HolderPathsTest, UseAuxiliaryPaths) {
  Policy policy = Chain();
  policy.auxiliary = {{NodeId(1), NodeId(3), Nodes({1, 4, 3}), 0.5}};
  const auto paths = PathsFrom(NodeId(3), policy);
  EXPECT_EQ(paths.at(NodeId(1)), Nodes({3, 2, 1}));
  EXPECT_EQ(paths.at(NodeId(4)), Nodes({3, 4}));
}

}  // namespace
}  // namespace banyan
