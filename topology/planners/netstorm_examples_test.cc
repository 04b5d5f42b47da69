// The worked examples of NETSTORM (Li et al.), Figs. 1 to 3. The text prints numbers for the balanced tree of Fig. 1c
// only; weights that it does not print are chosen here so that its statements about the other trees can be tested.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "topology/chunk_assignment.h"
#include "topology/planners/planners.h"
#include "topology/planners/route_table.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr double kBitsPerMegabit = 1e6;

// A link of both directions that takes so many time units for a unit of data.
struct Edge {
  uint32_t a = 0;
  uint32_t b = 0;
  double weight = 0;
};

NetworkView NetworkOf(int nodes, const std::vector<Edge>& edges) {
  std::vector<SampleLink> links;
  for (const Edge& edge : edges) {
    links.push_back({edge.a, edge.b, 1 / edge.weight});
    links.push_back({edge.b, edge.a, 1 / edge.weight});
  }
  return SampleNetwork(nodes, links);
}

Policy Planned(absl::FunctionRef<absl::StatusOr<Policy>(const NetworkView&, const PlannerConfig&)> plan,
               const NetworkView& view, int roots, std::optional<NodeId> root = std::nullopt) {
  PlannerConfig config;
  config.roots = roots;
  config.root = root;
  absl::StatusOr<Policy> policy = plan(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : Policy();
}

// Theorem 1, in the figures' time units.
double SynchronisationDelay(const Tree& tree, const NetworkView& view) {
  RouteTable routes(&view);
  return DelayOf(tree, routes).reduce * kBitsPerMegabit;
}

// Fig. 1c: child, parent, weight of their link.
const std::vector<Edge> kBalancedTree = {{2, 1, 24}, {3, 1, 15},  {4, 1, 18}, {5, 1, 50},  {6, 2, 12},
                                         {7, 2, 20}, {8, 2, 24},  {9, 3, 20}, {14, 3, 11}, {10, 4, 23},
                                         {11, 4, 9}, {13, 4, 14}, {12, 5, 7}};

NetworkView Figure1Network() {
  std::vector<Edge> edges = kBalancedTree;
  edges.insert(edges.end(), {{5, 4, 10}, {8, 3, 6}, {7, 6, 15}});
  return NetworkOf(14, edges);
}

Tree BalancedTreeOn1() {
  Tree tree{.root = NodeId(1), .share = 1, .reduce_parent = {}, .broadcast_parent = {}};
  for (const Edge& edge : kBalancedTree) tree.reduce_parent.emplace(NodeId(edge.a), NodeId(edge.b));
  tree.broadcast_parent = tree.reduce_parent;
  return tree;
}

// The part of the tree below `root`, which stands for the whole when the delay of that part alone is wanted.
double SubtreeDelay(uint32_t root, const std::vector<uint32_t>& members) {
  std::vector<Edge> edges;
  Tree tree{.root = NodeId(1), .share = 1, .reduce_parent = {}, .broadcast_parent = {}};
  const auto number = [&](uint32_t node) {
    if (node == root) return 1u;
    return static_cast<uint32_t>(std::find(members.begin(), members.end(), node) - members.begin()) + 2;
  };
  for (const Edge& edge : kBalancedTree) {
    if (std::find(members.begin(), members.end(), edge.a) == members.end()) continue;
    edges.push_back({number(edge.a), number(edge.b), edge.weight});
    tree.reduce_parent.emplace(NodeId(number(edge.a)), NodeId(number(edge.b)));
  }
  tree.broadcast_parent = tree.reduce_parent;
  return SynchronisationDelay(tree, NetworkOf(static_cast<int>(members.size()) + 1, edges));
}

TEST(NetstormExamplesTest, Figure1TheBalancedTreeTakes57TimeUnits) {
  EXPECT_NEAR(SubtreeDelay(2, {6, 7, 8}), 24, 1e-9);
  EXPECT_NEAR(SubtreeDelay(3, {9, 14}), 20, 1e-9);
  EXPECT_NEAR(SubtreeDelay(4, {10, 11, 13}), 23, 1e-9);
  EXPECT_NEAR(SubtreeDelay(5, {12}), 7, 1e-9);
  // max{24 + 24, 20 + 15, 23 + 18, 7 + 50} = max{48, 35, 41, 57}.
  EXPECT_NEAR(SynchronisationDelay(BalancedTreeOn1(), Figure1Network()), 57, 1e-9);
}

TEST(NetstormExamplesTest, Figure1TheFastestAggregationPathTreeIsFasterThanTheOthers) {
  const NetworkView view = Figure1Network();
  const Policy fapt = Planned(PlanFapt, view, 1, NodeId(1));
  const Policy mst = Planned(PlanMst, view, 1, NodeId(1));
  // Node 7 sends straight to node 2: 20 + 24. The spanning tree of the fastest links takes it over node 6.
  EXPECT_NEAR(SynchronisationDelay(fapt.trees.at(0), view), 44, 1e-9);
  EXPECT_NEAR(SynchronisationDelay(mst.trees.at(0), view), 15 + 12 + 24, 1e-9);
}

// Nodes 1 and 4 each have two leaves, and a link between them.
TEST(NetstormExamplesTest, Figure2TheTwoBestRootsAre1And4AndTheirTreesShareLinks) {
  const NetworkView view = NetworkOf(6, {{1, 2, 1}, {1, 3, 1}, {1, 4, 1}, {4, 5, 1}, {4, 6, 1}});
  const Policy policy = Planned(PlanFapt, view, 2);
  ASSERT_EQ(policy.trees.size(), 2u);
  EXPECT_EQ(policy.trees[0].root, NodeId(1));
  EXPECT_EQ(policy.trees[1].root, NodeId(4));
  const std::map<NodeId, NodeId> on_1 = {{NodeId(2), NodeId(1)},
                                         {NodeId(3), NodeId(1)},
                                         {NodeId(4), NodeId(1)},
                                         {NodeId(5), NodeId(4)},
                                         {NodeId(6), NodeId(4)}};
  std::map<NodeId, NodeId> on_4 = on_1;
  on_4.erase(NodeId(4));
  on_4.emplace(NodeId(1), NodeId(4));
  EXPECT_EQ(policy.trees[0].reduce_parent, on_1);
  EXPECT_EQ(policy.trees[1].reduce_parent, on_4);
  // The cost of the topology is that of its slowest tree (Definition 3); equal qualities make equal shares.
  for (const Tree& tree : policy.trees) {
    EXPECT_NEAR(SynchronisationDelay(tree, view), 2, 1e-9);
    EXPECT_DOUBLE_EQ(tree.share, 0.5);
  }
}

// How many chunks of a model of `chunks` go up each link.
std::map<std::pair<NodeId, NodeId>, int> ChunksOnLinks(const Policy& policy, int64_t chunks) {
  std::vector<double> shares;
  for (const Tree& tree : policy.trees) shares.push_back(tree.share);
  absl::StatusOr<ChunkAssignment> assignment = ChunkAssignment::Create(shares, 1);
  EXPECT_TRUE(assignment.ok()) << assignment.status();
  EXPECT_TRUE(assignment->AddKey(KeyId(1), chunks).ok());
  std::map<std::pair<NodeId, NodeId>, int> on_links;
  for (uint32_t chunk = 0; chunk < assignment->ChunksOf(KeyId(1)); ++chunk) {
    const Tree& tree = policy.trees.at(assignment->TreeOf(KeyId(1), ChunkIndex(chunk)).value());
    for (const auto& [node, parent] : tree.reduce_parent) ++on_links[{node, parent}];
  }
  return on_links;
}

// Three nodes in a row; the direct link between the ends is slow.
TEST(NetstormExamplesTest, Figure3MoreRootsTakeChunksOffTheHotspots) {
  const NodeId one(1);
  const NodeId two(2);
  const NodeId three(3);
  const Policy single = Planned(PlanFapt, TriangleNetwork(), 1);
  const Policy multiple = Planned(PlanFapt, TriangleNetwork(), 3);
  using Counts = std::map<std::pair<NodeId, NodeId>, int>;
  EXPECT_EQ(ChunksOnLinks(single, 12), (Counts{{{one, two}, 12}, {{three, two}, 12}}));
  // The node in the middle is twice as good a root as the others and manages six chunks; idle links come into use.
  EXPECT_EQ(ChunksOnLinks(multiple, 12),
            (Counts{{{one, two}, 9}, {{three, two}, 9}, {{two, one}, 3}, {{two, three}, 3}}));
}

}  // namespace
}  // namespace banyan
