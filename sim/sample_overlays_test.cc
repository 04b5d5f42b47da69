#include <algorithm>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "sim/overlays.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_network.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(SampleOverlaysTest, RandomOverlaysAreConnectedAndHaveTheLinksAskedFor) {
  Random random(3);
  for (int nodes = 1; nodes <= 12; ++nodes) {
    OverlayShape shape;
    shape.nodes = nodes;
    shape.links = nodes + 2;
    const OverlayConfig overlay = RandomOverlay(shape, &random);
    EXPECT_EQ(overlay.links->size(), static_cast<size_t>(std::min(nodes + 2, nodes * (nodes - 1) / 2)));
    EXPECT_TRUE(MakeNetworkView(overlay).CheckConnected().ok());
  }
}

TEST(SampleOverlaysTest, RegularOverlaysGiveEachNodeItsLinks) {
  Random random(4);
  OverlayShape shape;
  shape.nodes = 100;
  const OverlayConfig overlay = RegularOverlay(shape, 4, &random);
  EXPECT_EQ(overlay.links->size(), 200u);
  std::map<std::string, int> degree;
  for (const LinkConfig& link : *overlay.links) {
    ++degree[link.a];
    ++degree[link.b];
  }
  for (const auto& [node, links] : degree) EXPECT_EQ(links, 4) << node;
  EXPECT_TRUE(MakeNetworkView(overlay).CheckConnected().ok());
}

TEST(SampleOverlaysTest, AViewsOverlayIsTheSameNetwork) {
  const NetworkView view = WithCaps(GeometricNetwork(12, 3, 5), 300, 200);
  const NetworkView same = MakeNetworkView(OverlayOf(view));
  EXPECT_TRUE(std::equal(view.links().begin(), view.links().end(), same.links().begin(), same.links().end()));
  ASSERT_EQ(same.nodes().size(), view.nodes().size());
  for (size_t i = 0; i < view.nodes().size(); ++i) {
    EXPECT_EQ(same.nodes()[i].name, view.nodes()[i].name);
    EXPECT_EQ(same.nodes()[i].up_cap_bps, 300e6);
    EXPECT_EQ(same.nodes()[i].down_cap_bps, 200e6);
  }
}

}  // namespace
}  // namespace banyan
