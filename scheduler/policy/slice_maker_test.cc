#include "scheduler/policy/slice_maker.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NodeId kA(1), kB(2), kC(3), kD(4);

using Ends = std::pair<NodeId, NodeId>;

// a - b - c and d on its own link to a, and these links; rates differ by direction.
NetworkView ChainView(const std::vector<Ends>& more = {}) {
  std::vector<NetworkNode> nodes;
  for (const auto& [id, name] : std::map<NodeId, std::string>{{kA, "a"}, {kB, "b"}, {kC, "c"}, {kD, "d"}}) {
    NetworkNode node;
    node.id = id;
    node.name = name;
    nodes.push_back(node);
  }
  std::vector<NetworkLink> links;
  std::vector<Ends> all = {{kA, kB}, {kB, kA}, {kB, kC}, {kC, kB}, {kA, kD}, {kD, kA}};
  all.insert(all.end(), more.begin(), more.end());
  for (const auto& [from, to] : all) {
    NetworkLink link;
    link.from = from;
    link.to = to;
    link.throughput_bps = 1e6 * from.value();
    link.delay = absl::Milliseconds(from.value());
    links.push_back(link);
  }
  return *NetworkView::Create(nodes, links);
}

std::map<NodeId, NodeAddress> Addresses() {
  std::map<NodeId, NodeAddress> addresses;
  for (uint32_t id = 1; id <= 4; ++id)
    addresses[NodeId(id)] = {"tcp://n" + std::to_string(id) + ":1", Incarnation(id * 10)};
  return addresses;
}

// Root a; c is a child of a over b.
Policy RoutedPolicy() {
  Policy policy;
  policy.version = PolicyVersion(7);
  policy.epoch = Epoch(2);
  policy.chunk_max_elements = 100;
  policy.members = {kA, kB, kC, kD};
  Tree tree;
  tree.root = kA;
  tree.share = 1;
  tree.reduce_parent = {{kB, kA}, {kC, kA}, {kD, kA}};
  tree.broadcast_parent = {{kB, kA}, {kC, kB}, {kD, kA}};
  policy.trees = {tree};
  policy.routes = {Route{kC, kA, {kC, kB, kA}}};
  return policy;
}

std::vector<NodeId> NeighboursOf(const PolicySlice& slice) {
  std::vector<NodeId> nodes;
  for (const NeighbourSlice& neighbour : slice.neighbours) nodes.push_back(neighbour.node);
  return nodes;
}

TEST(SliceMakerTest, GivesEachNodeItsPlaceInTheTrees) {
  const std::map<NodeId, PolicySlice> slices = MakeSlices(RoutedPolicy(), ChainView(), {}, Addresses());
  ASSERT_EQ(slices.size(), 4u);
  const PolicySlice& root = slices.at(kA);
  EXPECT_EQ(root.version, PolicyVersion(7));
  EXPECT_EQ(root.member_count, 4u);
  EXPECT_EQ(root.source, kA);
  ASSERT_EQ(root.trees.size(), 1u);
  EXPECT_EQ(root.trees[0].reduce_parent, std::nullopt);
  EXPECT_THAT(root.trees[0].reduce_children, ElementsAre(kB, kC, kD));
  EXPECT_THAT(root.trees[0].broadcast_children, ElementsAre(kB, kD));
  const TreeSlice& leaf = slices.at(kC).trees[0];
  EXPECT_EQ(leaf.reduce_parent, kA);
  EXPECT_EQ(leaf.broadcast_parent, kB);
  EXPECT_THAT(leaf.reduce_children, IsEmpty());
  EXPECT_THAT(slices.at(kB).trees[0].broadcast_children, ElementsAre(kC));
}

TEST(SliceMakerTest, RoutesGoToTheirSourceAndMakeHopsNeighbours) {
  const std::map<NodeId, PolicySlice> slices = MakeSlices(RoutedPolicy(), ChainView(), {}, Addresses());
  EXPECT_THAT(slices.at(kC).routes, ElementsAre(RouteSlice{{kC, kB, kA}, 2e6, absl::Milliseconds(8)}));
  EXPECT_THAT(slices.at(kA).routes, IsEmpty());
  EXPECT_THAT(NeighboursOf(slices.at(kA)), ElementsAre(kB, kD));
  EXPECT_THAT(NeighboursOf(slices.at(kB)), ElementsAre(kA, kC));
  EXPECT_THAT(NeighboursOf(slices.at(kC)), ElementsAre(kB));
}

TEST(SliceMakerTest, SaysWhichStartOfARelayedTreeNeighbourTakesPart) {
  const std::map<NodeId, PolicySlice> slices = MakeSlices(RoutedPolicy(), ChainView(), {}, Addresses());
  EXPECT_THAT(slices.at(kA).relayed, ElementsAre(RelayedSlice{kC, Addresses().at(kC).incarnation}));
  EXPECT_THAT(slices.at(kC).relayed, ElementsAre(RelayedSlice{kA, Addresses().at(kA).incarnation}));
  EXPECT_THAT(slices.at(kB).relayed, IsEmpty());
}

TEST(SliceMakerTest, AuxiliaryPathsAddTheirHops) {
  Policy policy = RoutedPolicy();
  policy.auxiliary = {Route{kB, kD, {kB, kA, kD}}};
  const std::map<NodeId, PolicySlice> slices = MakeSlices(policy, ChainView(), {}, Addresses());
  EXPECT_THAT(slices.at(kB).auxiliary, ElementsAre(RouteSlice{{kB, kA, kD}, 1e6, absl::Milliseconds(8), 0, 1}));
  EXPECT_THAT(slices.at(kD).auxiliary, IsEmpty());
}

TEST(SliceMakerTest, TellsAuxiliaryPathsOverLinksThatNoTreeUses) {
  Policy policy = RoutedPolicy();
  policy.auxiliary = {Route{kB, kA, {kB, kD, kA}}, Route{kB, kD, {kB, kA, kD}}};
  const NetworkView view = ChainView({{kB, kD}, {kD, kB}});
  const std::map<NodeId, PolicySlice> slices = MakeSlices(policy, view, {}, Addresses());
  ASSERT_EQ(slices.at(kB).auxiliary.size(), 2u);
  EXPECT_TRUE(slices.at(kB).auxiliary[0].crosses_idle_link);
  EXPECT_FALSE(slices.at(kB).auxiliary[1].crosses_idle_link);
}

TEST(SliceMakerTest, TellsWhatTreesLeaveOfAnAuxiliaryPathsLinks) {
  Policy policy = RoutedPolicy();
  policy.auxiliary = {Route{kB, kD, {kB, kA, kD}}};
  policy.rate_bps = PlanRateBps(policy, ChainView());
  EXPECT_NEAR(MakeSlices(policy, ChainView(), {}, Addresses()).at(kB).auxiliary[0].spare, 0, 1e-12);
  policy.rate_bps /= 4;
  EXPECT_NEAR(MakeSlices(policy, ChainView(), {}, Addresses()).at(kB).auxiliary[0].spare, 0.75, 1e-12);
}

TEST(SliceMakerTest, DescribesTheLinkToANeighbour) {
  const std::map<NodeId, PolicySlice> slices = MakeSlices(RoutedPolicy(), ChainView(), {}, Addresses());
  const NeighbourSlice& neighbour = slices.at(kB).neighbours[1];
  EXPECT_EQ(neighbour.node, kC);
  EXPECT_EQ(neighbour.name, "c");
  EXPECT_EQ(neighbour.address, "tcp://n3:1");
  EXPECT_EQ(neighbour.incarnation, Incarnation(30));
  EXPECT_EQ(neighbour.rate_bps, 2e6);
  EXPECT_EQ(neighbour.round_trip, absl::Milliseconds(5));
}

TEST(SliceMakerTest, SaysWhatACapLeavesOfALink) {
  const std::map<NodeId, PolicySlice> free = MakeSlices(RoutedPolicy(), ChainView(), {}, Addresses());
  for (const NeighbourSlice& neighbour : free.at(kB).neighbours) EXPECT_EQ(neighbour.capped_bps, std::nullopt);
  const NetworkView capped_view = WithCaps(ChainView(), 1, 100);
  const std::map<NodeId, PolicySlice> capped = MakeSlices(RoutedPolicy(), capped_view, {}, Addresses());
  // b sends to a for itself and for c, and half as much to c.
  ASSERT_EQ(capped.at(kB).neighbours.size(), 2u);
  for (const NeighbourSlice& neighbour : capped.at(kB).neighbours) {
    const double part = neighbour.node == kA ? 2.0 / 3 : 1.0 / 3;
    EXPECT_NEAR(neighbour.capped_bps.value_or(0), part * 1e6, 1) << neighbour.name;
  }
}

TEST(SliceMakerTest, LoneMember) {
  Policy policy;
  policy.members = {kB};
  policy.trees = {Tree{kB, 1, {}, {}}};
  const std::map<NodeId, PolicySlice> slices = MakeSlices(policy, ChainView(), {}, Addresses());
  EXPECT_THAT(slices.at(kB).neighbours, IsEmpty());
  EXPECT_EQ(slices.at(kB).trees[0].root, kB);
}

TEST(SliceMakerTest, SaysWhatEachLinkMayTakeOfARoundsTime) {
  const std::map<NodeId, PolicySlice> slices =
      MakeSlices(RoutedPolicy(), ChainView(), {}, Addresses(), {{{kB, kA}, 0.25}, {{kB, kC}, 0.5}});
  for (const auto& [node, slice] : slices) {
    for (const NeighbourSlice& neighbour : slice.neighbours) {
      const double expected = node != kB ? 1 : neighbour.node == kA ? 0.25 : 0.5;
      EXPECT_EQ(neighbour.budget_share, expected) << node.value() << " to " << neighbour.node.value();
    }
  }
}

}  // namespace
}  // namespace banyan
