// What plans reach on full meshes. BANYAN_LONG adds the large ones, of 200 nodes and of 1,024.
#include "topology/packing/dense_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "topology/packing/packed_planner.h"
#include "topology/packing/price_bound.h"
#include "topology/policy_check.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// Where few links are far faster than the others, the bound counts on all of them.
double LeastRatio(MeshRates rates) { return rates == MeshRates::kHeavyTails ? 0.93 : 0.95; }
// A node's links fill only so far with whole trees.
constexpr double kSpread = 0.9;

bool IsLong() { return std::getenv("BANYAN_LONG") != nullptr; }

Policy Planned(const NetworkView& view, const PlannerConfig& config = {}) {
  absl::StatusOr<Policy> policy = PlanPacked(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? *std::move(policy) : Policy();
}

double Ratio(const Policy& policy) { return policy.rate_bps / policy.bound_bps; }

size_t DepthOf(const std::map<NodeId, NodeId>& parents, NodeId root) {
  size_t depth = 0;
  for (const auto& [node, parent] : parents) {
    size_t edges = 1;
    for (NodeId at = parent; at != root; at = parents.at(at)) ++edges;
    depth = std::max(depth, edges);
  }
  return depth;
}

TEST(IsDenseTest, NeedsManyNodesAndLinks) {
  EXPECT_TRUE(IsDense(CapacityGraph(MeshNetwork(MeshRates::kUneven, 40, 1))));
  EXPECT_FALSE(IsDense(CapacityGraph(MeshNetwork(MeshRates::kUneven, 12, 1))));
  EXPECT_FALSE(IsDense(CapacityGraph(GeometricNetwork(100, 4, 1))));
}

class MeshTest : public ::testing::TestWithParam<MeshRates> {};

TEST_P(MeshTest, PlansAreShallowFewAndCloseToTheBound) {
  for (const int nodes : {50, 63, 100}) {
    for (uint64_t seed = 1; seed <= (IsLong() ? 3 : 1); ++seed) {
      SCOPED_TRACE(testing::Message() << nodes << " nodes, seed " << seed);
      const NetworkView view = MeshNetwork(GetParam(), nodes, seed);
      const Policy policy = Planned(view);
      EXPECT_TRUE(ValidatePolicy(policy, view).ok()) << ValidatePolicy(policy, view);
      EXPECT_GE(Ratio(policy), LeastRatio(GetParam()));
      EXPECT_LE(policy.rate_bps, policy.bound_bps);
      EXPECT_LE(policy.trees.size(), static_cast<size_t>(4 * nodes));
      for (const Tree& tree : policy.trees) {
        EXPECT_LE(DepthOf(tree.reduce_parent, tree.root), 4u);
        EXPECT_LE(DepthOf(tree.broadcast_parent, tree.root), 4u);
      }
    }
  }
}

TEST_P(MeshTest, LargeOnesTooWhenThereIsTime) {
  if (!IsLong()) GTEST_SKIP() << "set BANYAN_LONG";
  EXPECT_GE(Ratio(Planned(MeshNetwork(GetParam(), 200, 1))), GetParam() == MeshRates::kHeavyTails ? 0.8 : 0.9);
}

// What the links of a node can carry, either way.
double CapacityOf(NodeId node, const NetworkView& view) {
  double out_bps = 0;
  double in_bps = 0;
  for (const NetworkLink& link : view.links()) {
    if (link.from == node) out_bps += link.throughput_bps;
    if (link.to == node) in_bps += link.throughput_bps;
  }
  return std::min(out_bps, in_bps);
}

// Each overlay is the one before and a node more. Who joins slows nobody down whose trees its links can carry.
TEST_P(MeshTest, ANodeThatJoinsMakesNothingSlower) {
  const NetworkView view = MeshNetwork(GetParam(), 52, 1);
  for (const int first : {28, 40, 49}) {
    Policy before = Planned(FirstNodes(view, first));
    for (int nodes = first + 1; nodes <= first + 3; ++nodes) {
      const NetworkView larger = FirstNodes(view, nodes);
      PlannerConfig config;
      config.current_trees = before.trees;
      const Policy joined = Planned(larger, config);
      EXPECT_TRUE(ValidatePolicy(joined, larger).ok());
      const double carried_bps = kSpread * CapacityOf(larger.nodes().back().id, larger);
      EXPECT_GE(joined.rate_bps, (1 - 1e-6) * std::min(before.rate_bps, carried_bps)) << nodes;
      before = joined;
    }
  }
}

// Planned afresh, whatever was before: some nodes more are not slower, as far as any plan could be as fast.
TEST_P(MeshTest, MoreNodesAreNotSlower) {
  const NetworkView view = MeshNetwork(GetParam(), 64, 1);
  double before_bps = 0;
  for (const int nodes : {28, 32, 36, 44, 54, 64}) {
    const Policy policy = Planned(FirstNodes(view, nodes));
    EXPECT_GE(policy.rate_bps, std::min(before_bps, LeastRatio(GetParam()) * policy.bound_bps)) << nodes;
    before_bps = policy.rate_bps;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MeshTest, ::testing::ValuesIn(kAllMeshRates), [](const auto& info) {
  std::string name = NameOf(info.param);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

TEST(PackDenseTest, ProvesItsBound) {
  const NetworkView view = MeshNetwork(MeshRates::kByDistance, 40, 1);
  const CapacityGraph graph(view);
  std::vector<size_t> roots;
  for (size_t root = 0; root < graph.nodes(); ++root) roots.push_back(root);
  const TreePacking packing = PackDense(graph, roots, 0.03);
  EXPECT_NEAR(PriceBoundBps(view, CertificateOf(graph, packing)), packing.bound_bps, 1e-6 * packing.bound_bps);
  EXPECT_NEAR(DenseBoundBps(graph), packing.bound_bps, 1);
}

TEST(PackDenseTest, HostsMayBeTheLimit) {
  const NetworkView view = WithCaps(MeshNetwork(MeshRates::kUneven, 40, 1), 500, 500);
  EXPECT_GE(Ratio(Planned(view)), 0.9);
}

TEST(PackDenseTest, AThousandEqualPairsWhenThereIsTime) {
  if (!IsLong()) GTEST_SKIP() << "set BANYAN_LONG";
  EXPECT_GE(Ratio(Planned(CompleteNetwork(1024, 100))), 0.98);
}

}  // namespace
}  // namespace banyan
