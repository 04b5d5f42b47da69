#include "gtest/gtest.h"
#include "sim/overlays.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

const LinkConfig& LinkBetween(const OverlayConfig& overlay, const std::string& a, const std::string& b) {
  for (const LinkConfig& link : *overlay.links) {
    if (link.a == a && link.b == b) return link;
  }
  ADD_FAILURE() << a << "-" << b;
  return overlay.links->front();
}

// A hub of 100 Mbit/s to four leaves, which have 5 Mbit/s among each other: all have a link.
TEST(RoutedOverlayTest, WhoHasALinkGoesByIt) {
  const NetworkView view = HubAndMeshNetwork(4, 100, 5);
  EXPECT_TRUE(IsFullMesh(view));
  const OverlayConfig overlay = RoutedOverlay(view);
  EXPECT_EQ(overlay.nodes.size(), 5u);
  EXPECT_EQ(overlay.links->size(), 10u);
  for (const SharedConfig& wire : overlay.shared) EXPECT_EQ(wire.links.size(), 1u);
}

TEST(RoutedOverlayTest, OthersGoByTheFewestHopsAndShareThem) {
  const NetworkView view = Internet2Network();
  EXPECT_FALSE(IsFullMesh(view));
  const OverlayConfig overlay = RoutedOverlay(view);
  EXPECT_EQ(overlay.links->size(), 36u);
  EXPECT_EQ(overlay.shared.size(), 26u) << "13 links, each direction by itself";
  size_t hops = 0;
  for (const SharedConfig& wire : overlay.shared) hops += wire.links.size();
  EXPECT_GT(hops, 72u) << "some paths have several";
  for (const NetworkLink& link : view.links()) {
    if (link.to < link.from) continue;
    const LinkConfig& own = LinkBetween(overlay, view.NameOf(link.from), view.NameOf(link.to));
    EXPECT_EQ(own.a_to_b_bps, link.throughput_bps);
    EXPECT_EQ(own.delay, link.delay);
  }
}

}  // namespace
}  // namespace banyan
