#include "topology/policy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// n1-n2-n3 in a row, and one tree on n1 whose edge between n1 and n3 is routed over n2.
class PolicyCheckTest : public ::testing::Test {
 protected:
  PolicyCheckTest() : view_(SampleNetwork(3, {{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {3, 2, 1}})) {
    const std::map<NodeId, NodeId> parents = {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(1)}};
    policy_.members = {NodeId(1), NodeId(2), NodeId(3)};
    policy_.trees = {Tree{.root = NodeId(1), .share = 1, .reduce_parent = parents, .broadcast_parent = parents}};
    policy_.routes = {{NodeId(1), NodeId(3), {NodeId(1), NodeId(2), NodeId(3)}},
                      {NodeId(3), NodeId(1), {NodeId(3), NodeId(2), NodeId(1)}}};
    policy_.chunk_max_elements = 1;
  }

  std::string Refusal() const { return std::string(ValidatePolicy(policy_, view_).message()); }

  NetworkView view_;
  Policy policy_;
};

TEST_F(PolicyCheckTest, AcceptsAGoodOne) { EXPECT_TRUE(ValidatePolicy(policy_, view_).ok()) << Refusal(); }

TEST_F(PolicyCheckTest, Members) {
  policy_.members = {NodeId(1), NodeId(3), NodeId(2)};
  EXPECT_THAT(Refusal(), HasSubstr("ascending"));
  policy_.members = {NodeId(1), NodeId(2), NodeId(4)};
  EXPECT_THAT(Refusal(), HasSubstr("member 4 is not in the network"));
  policy_.members = {};
  EXPECT_THAT(Refusal(), HasSubstr("at least one member"));
}

TEST_F(PolicyCheckTest, Shares) {
  policy_.trees[0].share = 0.5;
  EXPECT_THAT(Refusal(), HasSubstr("must sum to 1, got 0.5"));
  policy_.trees[0].share = 0;
  EXPECT_THAT(Refusal(), HasSubstr("share above 0"));
  policy_.trees.clear();
  EXPECT_THAT(Refusal(), HasSubstr("must sum to 1"));
}

TEST_F(PolicyCheckTest, TreesSpan) {
  policy_.trees[0].reduce_parent.erase(NodeId(3));
  EXPECT_THAT(Refusal(), HasSubstr("the reduce half of the tree on 'n1' does not reach 'n3'"));
}

TEST_F(PolicyCheckTest, TreesHaveNoCycles) {
  policy_.trees[0].broadcast_parent = {{NodeId(2), NodeId(3)}, {NodeId(3), NodeId(2)}};
  EXPECT_THAT(Refusal(), HasSubstr("the broadcast half of the tree on 'n1' has a cycle"));
}

TEST_F(PolicyCheckTest, RootsHaveNoParent) {
  policy_.trees[0].reduce_parent[NodeId(1)] = NodeId(2);
  EXPECT_THAT(Refusal(), HasSubstr("gives its root a parent"));
}

TEST_F(PolicyCheckTest, TreesHoldMembersOnly) {
  policy_.trees[0].reduce_parent[NodeId(7)] = NodeId(2);
  EXPECT_THAT(Refusal(), HasSubstr("'node 7', which is no member"));
  policy_.trees[0].root = NodeId(8);
  EXPECT_THAT(Refusal(), HasSubstr("root 'node 8' is no member"));
}

TEST_F(PolicyCheckTest, EdgesNeedLinkOrRoute) {
  policy_.routes.pop_back();
  EXPECT_THAT(Refusal(), HasSubstr("the tree edge from 'n3' to 'n1' has neither a link nor a route"));
}

TEST_F(PolicyCheckTest, RoutesAreNeeded) {
  policy_.trees[0].reduce_parent[NodeId(3)] = NodeId(2);
  EXPECT_THAT(Refusal(), HasSubstr("a route that no tree edge"));
}

TEST_F(PolicyCheckTest, RoutesGoForward) {
  policy_.routes[0].path = {NodeId(1), NodeId(2), NodeId(1), NodeId(2), NodeId(3)};
  EXPECT_THAT(Refusal(), HasSubstr("passes 'n1' twice"));
  policy_.routes[0].path = {NodeId(1), NodeId(3)};
  EXPECT_THAT(Refusal(), HasSubstr("at least one relay"));
  policy_.routes[0].path = {NodeId(1), NodeId(9), NodeId(3)};
  EXPECT_THAT(Refusal(), HasSubstr("no member"));
}

TEST_F(PolicyCheckTest, RoutesUseLinks) {
  view_ = SampleNetwork(3, {{1, 2, 1}, {2, 1, 1}, {3, 2, 1}});
  EXPECT_THAT(Refusal(), HasSubstr("needs a link from 'n2' to 'n3'"));
}

TEST_F(PolicyCheckTest, RoutesAreInOrder) {
  std::swap(policy_.routes[0], policy_.routes[1]);
  EXPECT_THAT(Refusal(), HasSubstr("ascending by (from, to)"));
  policy_.routes = {policy_.routes[1], policy_.routes[1], policy_.routes[0]};
  EXPECT_THAT(Refusal(), HasSubstr("ascending by (from, to)"));
}

// Four nodes, every pair linked, and a chain n3 -> n2 -> n1 in both halves, with n4 on n1.
class AuxiliaryCheckTest : public PolicyCheckTest {
 protected:
  AuxiliaryCheckTest() {
    view_ = CompleteNetwork(4, 1);
    const std::map<NodeId, NodeId> parents = {{NodeId(2), NodeId(1)}, {NodeId(3), NodeId(2)}, {NodeId(4), NodeId(1)}};
    policy_.members = {NodeId(1), NodeId(2), NodeId(3), NodeId(4)};
    policy_.trees = {Tree{.root = NodeId(1), .share = 1, .reduce_parent = parents, .broadcast_parent = parents}};
    policy_.routes = {};
    policy_.auxiliary = {AuxiliaryPath({3, 1, 2}), AuxiliaryPath({3, 4, 2})};
  }

  static Route AuxiliaryPath(const std::vector<uint32_t>& path) {
    Route route{NodeId(path.front()), NodeId(path.back()), {}};
    for (const uint32_t node : path) route.path.push_back(NodeId(node));
    return route;
  }
};

TEST_F(AuxiliaryCheckTest, MayBeSeveralPerEdge) { EXPECT_TRUE(ValidatePolicy(policy_, view_).ok()) << Refusal(); }

TEST_F(AuxiliaryCheckTest, ShareNoLink) {
  policy_.auxiliary[1] = AuxiliaryPath({3, 1, 4, 2});
  EXPECT_THAT(Refusal(),
              HasSubstr("the auxiliary path from 'n3' to 'n2' uses a link of the primary path or of another"));
}

TEST_F(AuxiliaryCheckTest, AvoidTheRouteOfTheirEdge) {
  view_ = SampleNetwork(
      4, {{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {3, 1, 1}, {1, 3, 1}, {1, 4, 1}, {4, 1, 1}, {3, 4, 1}, {4, 2, 1}});
  policy_.routes = {AuxiliaryPath({3, 1, 2})};
  policy_.auxiliary = {AuxiliaryPath({3, 4, 2})};
  EXPECT_TRUE(ValidatePolicy(policy_, view_).ok()) << Refusal();
  policy_.auxiliary = {AuxiliaryPath({3, 4, 1, 2})};
  EXPECT_THAT(Refusal(), HasSubstr("uses a link of the primary path"));
}

TEST_F(AuxiliaryCheckTest, BelongToATreeEdge) {
  policy_.auxiliary = {AuxiliaryPath({3, 2, 4})};
  EXPECT_THAT(Refusal(), HasSubstr("the auxiliary path from 'n3' to 'n4' is of no tree edge"));
}

TEST_F(AuxiliaryCheckTest, GoForwardOverLinksInOrder) {
  policy_.auxiliary = {AuxiliaryPath({3, 1, 3, 4, 2})};
  EXPECT_THAT(Refusal(), HasSubstr("passes 'n3' twice"));
  policy_.auxiliary = {AuxiliaryPath({3, 1, 2}), AuxiliaryPath({2, 3, 1})};
  EXPECT_THAT(Refusal(), HasSubstr("ascending by (from, to)"));
  policy_.auxiliary = {AuxiliaryPath({3, 9, 2})};
  EXPECT_THAT(Refusal(), HasSubstr("no member"));
}

TEST_F(PolicyCheckTest, ChunksHoldSomething) {
  policy_.chunk_max_elements = 0;
  EXPECT_THAT(Refusal(), HasSubstr("at least 1 element"));
}

}  // namespace
}  // namespace banyan
