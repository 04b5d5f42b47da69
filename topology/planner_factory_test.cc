#include "topology/planner_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kOverlay[] = R"(
nodes: [{name: a}, {name: b}, {name: c}]
topology:
  planner: custom
  shares: balanced
  trees:
    - {root: a, reduce: {b: a, c: b}}
    - {root: b, reduce: {a: b, c: b}, broadcast: {a: c, c: b}}
chunks: {max_elements: 77}
)";

TEST(PlannerConfigTest, ResolvesNames) {
  OverlayConfig overlay = *ParseOverlay(kOverlay, "o.yaml");
  // Of other planners.
  overlay.topology.roots = 2;
  overlay.topology.root = "c";
  overlay.topology.arity = 4;
  const absl::StatusOr<PlannerConfig> config = MakePlannerConfig(overlay, MakeNetworkView(overlay));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->planner, "custom");
  EXPECT_EQ(config->roots, 2);
  EXPECT_EQ(config->root, NodeId(3));
  EXPECT_EQ(config->arity, 4);
  EXPECT_EQ(config->shares, ShareRule::kBalanced);
  EXPECT_TRUE(config->auxiliary);
  EXPECT_EQ(config->chunk_max_elements, 77);
  ASSERT_EQ(config->trees.size(), 2u);
  EXPECT_EQ(config->trees[0].reduce_parent.at(NodeId(3)), NodeId(2));
  EXPECT_EQ(config->trees[0].broadcast_parent, config->trees[0].reduce_parent);
  EXPECT_EQ(config->trees[1].broadcast_parent.at(NodeId(1)), NodeId(3));
  EXPECT_TRUE(MakePolicy(MakeNetworkView(overlay), *config).ok());
}

TEST(PlannerConfigTest, MultipathDecidesAboutAuxiliaryPaths) {
  const OverlayConfig overlay = *ParseOverlay("nodes: [{name: a}, {name: b}]\nmultipath: {enabled: false}\n", "o.yaml");
  const PlannerConfig config = *MakePlannerConfig(overlay, MakeNetworkView(overlay));
  EXPECT_FALSE(config.auxiliary);
  EXPECT_EQ(config.shares, ShareRule::kQuality);
}

TEST(PlannerConfigTest, NamesTheNodeThatAPartOfTheNetworkLacks) {
  const OverlayConfig overlay = *ParseOverlay(kOverlay, "o.yaml");
  const NetworkView part = *MakeNetworkView(overlay).Restrict({NodeId(1), NodeId(2)});
  EXPECT_THAT(std::string(MakePlannerConfig(overlay, part).status().message()), HasSubstr("'c', which is not in"));
}

}  // namespace
}  // namespace banyan
