#include "topology/planner_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner.h"
#include "topology/samples/sample_networks.h"

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

double StarRateBps(const NetworkView& view, NodeId hub) {
  PlannerConfig config;
  config.planner = "star";
  config.root = hub;
  const absl::StatusOr<Policy> policy = MakePolicy(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? policy->rate_bps : 0;
}

TEST(HubOrderTest, HubsComeByTheRateOfTheirStar) {
  const NetworkView view = Internet2Network();
  const absl::StatusOr<std::vector<NodeId>> hubs = HubsByRate(view);
  ASSERT_TRUE(hubs.ok()) << hubs.status();
  ASSERT_EQ(hubs->size(), 9u);
  EXPECT_EQ(view.NameOf(hubs->front()), "n6");
  for (size_t i = 1; i < hubs->size(); ++i) {
    EXPECT_GE(StarRateBps(view, (*hubs)[i - 1]), StarRateBps(view, (*hubs)[i]));
  }
  EXPECT_GT(StarRateBps(view, hubs->front()), 1.5 * StarRateBps(view, hubs->back()));
}

TEST(HubOrderTest, FailsWithoutAPathToEveryNode) {
  EXPECT_FALSE(HubsByRate(SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}})).ok());
}

}  // namespace
}  // namespace banyan
