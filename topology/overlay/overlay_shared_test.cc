#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr char kMesh[] = "nodes: [{name: n1}, {name: n2}, {name: n3}]\n";
constexpr char kLine[] =
    "nodes: [{name: n1}, {name: n2}, {name: n3}]\nlinks: [{between: [n1, n2]}, {between: [n2, n3]}]\n";

std::string ErrorOf(const std::string& text) {
  return std::string(ParseOverlay(text, "overlay.yaml").status().message());
}

TEST(OverlaySharedTest, LinksOfOneDirectionShareACapacity) {
  const absl::StatusOr<OverlayConfig> overlay =
      ParseOverlay(std::string(kMesh) + "shared: [{links: [[n1, n3], [n1, n2]], mbps: 50}]\n", "overlay.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  const NetworkView view = MakeNetworkView(*overlay);
  const SharedCapacity expected{50e6, {{NodeId(1), NodeId(2)}, {NodeId(1), NodeId(3)}}};
  ASSERT_EQ(view.shared().size(), 1u);
  EXPECT_EQ(view.shared()[0], expected);
}

TEST(OverlaySharedTest, RefusesWhatNamesNoLink) {
  EXPECT_THAT(ErrorOf(std::string(kLine) + "shared: [{links: [[n1, n3]], mbps: 50}]\n"),
              testing::HasSubstr("shared[0].links: there is not a link from 'n1' to 'n3'"));
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: [{links: [[n1, n4]], mbps: 50}]\n"),
              testing::HasSubstr("shared[0].links: unknown node 'n4'"));
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: [{links: [[n1, n1]], mbps: 50}]\n"),
              testing::HasSubstr("there is not a link"));
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: [{links: [[n1, n2], [n1, n2]], mbps: 50}]\n"),
              testing::HasSubstr("is given twice"));
}

TEST(OverlaySharedTest, RefusesOtherForms) {
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: 5\n"), testing::HasSubstr("shared: expected a list"));
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: [{links: [], mbps: 5}]\n"), testing::HasSubstr("list of links"));
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: [{links: [n1, n2], mbps: 5}]\n"), testing::HasSubstr("[from, to]"));
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: [{links: [[n1, n2]]}]\n"), testing::HasSubstr("mbps"));
  EXPECT_THAT(ErrorOf(std::string(kMesh) + "shared: [{links: [[n1, n2]], mbps: 0}]\n"), testing::HasSubstr("mbps"));
}

TEST(OverlaySharedTest, CapsCanBeHidden) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(
      "nodes: [{name: n1, up_mbps: 5, down_mbps: 6}, {name: n2}]\nshared: [{links: [[n1, n2]], mbps: 4}]\n",
      "overlay.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  const OverlayConfig without = WithoutCaps(*overlay);
  EXPECT_EQ(without.nodes[0].up_cap_bps, std::nullopt);
  EXPECT_EQ(without.nodes[0].down_cap_bps, std::nullopt);
  EXPECT_TRUE(without.shared.empty());
}

}  // namespace
}  // namespace banyan
