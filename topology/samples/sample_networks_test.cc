// Networks that are files as well are the same here and there.
#include "topology/samples/sample_networks.h"

#include <gtest/gtest.h>

#include <string>

#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

NetworkView Loaded(const std::string& name) {
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay("deploy/topologies/" + name);
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  return overlay.ok() ? MakeNetworkView(*overlay) : NetworkView();
}

void ExpectSame(const NetworkView& network, const NetworkView& file) {
  ASSERT_EQ(network.nodes().size(), file.nodes().size());
  for (size_t i = 0; i < file.nodes().size(); ++i) EXPECT_EQ(network.nodes()[i].name, file.nodes()[i].name);
  ASSERT_EQ(network.links().size(), file.links().size());
  for (const NetworkLink& link : file.links()) {
    const NetworkNode* from = network.FindNodeByName(file.NameOf(link.from));
    const NetworkNode* to = network.FindNodeByName(file.NameOf(link.to));
    ASSERT_TRUE(from != nullptr && to != nullptr);
    const NetworkLink* same = network.FindLink(from->id, to->id);
    ASSERT_NE(same, nullptr) << from->name << " to " << to->name;
    EXPECT_EQ(same->throughput_bps, link.throughput_bps) << from->name << " to " << to->name;
    EXPECT_EQ(same->delay, link.delay) << from->name << " to " << to->name;
  }
}

TEST(SampleNetworksTest, Internet2IsTheFiles) { ExpectSame(Internet2Network(), Loaded("internet2.yaml")); }

TEST(SampleNetworksTest, Cloud9IsTheFiles) { ExpectSame(Cloud9Network(), Loaded("cloud9.yaml")); }

TEST(SampleNetworksTest, AMeshIsTheFiles) { ExpectSame(RandomNetwork(9, 8, 1), Loaded("mesh9.yaml")); }

TEST(SampleNetworksTest, CapsAreOnEveryNode) {
  const NetworkView capped = WithCaps(Cloud9Network(), 5000, 4000);
  for (const NetworkNode& node : capped.nodes()) {
    EXPECT_EQ(node.up_cap_bps, 5e9);
    EXPECT_EQ(node.down_cap_bps, 4e9);
  }
  ExpectSame(capped, Loaded("cloud9.yaml"));
}

TEST(SampleNetworksTest, DrawsDifferByTheirSeedAlone) {
  const auto rate = [](uint64_t seed) { return DrawnInternet2Network(seed).links().front().throughput_bps; };
  EXPECT_EQ(rate(1), rate(1));
  EXPECT_NE(rate(1), rate(2));
  const NetworkView view = DrawnInternet2Network(3);
  for (const NetworkLink& link : view.links()) {
    EXPECT_GE(link.throughput_bps, 20e6);
    EXPECT_LE(link.throughput_bps, 155e6);
  }
}

TEST(SampleNetworksTest, NearNodesOfAPlaneAreLinked) {
  const NetworkView view = GeometricNetwork(20, 4, 1);
  EXPECT_TRUE(view.CheckConnected().ok());
  for (const NetworkNode& node : view.nodes()) EXPECT_GE(view.LinksFrom(node.id).size(), 4u);
}

}  // namespace
}  // namespace banyan
