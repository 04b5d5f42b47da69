// What plans reach on full meshes. BANYAN_LONG adds the large ones, of 200 nodes and of 1,024.
#include "topology/packing/dense_packing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "topology/packing/packed_planner.h"
#include "topology/packing/price_bound.h"
#include "topology/policy_check.h"
#include "topology/samples/mesh_networks.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

bool IsLong() { return std::getenv("BANYAN_LONG") != nullptr; }

Policy Planned(const NetworkView& view, const PlannerConfig& config = {}) {
  absl::StatusOr<Policy> policy = PackedPlanner().Plan(view, config);
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
      EXPECT_GE(Ratio(policy), 0.95);
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

// Each overlay is the one before and a node more, or some.
TEST_P(MeshTest, MoreNodesAreNotSlower) {
  const NetworkView view = MeshNetwork(GetParam(), 64, 1);
  Policy before = Planned(FirstNodes(view, 28));
  for (const int nodes : {29, 30, 33, 40, 50, 63, 64}) {
    const NetworkView larger = FirstNodes(view, nodes);
    const Policy alone = Planned(larger);
    PlannerConfig config;
    config.current_trees = before.trees;
    const Policy grown = Planned(larger, config);
    const double possible_bps = std::min(before.rate_bps, alone.bound_bps);
    EXPECT_GE(alone.rate_bps, 0.95 * possible_bps) << nodes;
    EXPECT_GE(grown.rate_bps, 0.97 * possible_bps) << nodes;
    before = grown;
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
