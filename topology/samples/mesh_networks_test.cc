#include <gtest/gtest.h>

#include <algorithm>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(MeshNetworksTest, LinkEveryPair) {
  for (const MeshRates rates : kAllMeshRates) {
    const NetworkView view = MeshNetwork(rates, 12, 1);
    EXPECT_EQ(view.links().size(), 12u * 11u) << NameOf(rates);
    const auto [least, most] = std::minmax_element(
        view.links().begin(), view.links().end(),
        [](const NetworkLink& a, const NetworkLink& b) { return a.throughput_bps < b.throughput_bps; });
    EXPECT_EQ(least->throughput_bps == most->throughput_bps, rates == MeshRates::kEqual) << NameOf(rates);
  }
}

TEST(MeshNetworksTest, ByDistanceNearPairsAreFast) {
  for (const NetworkLink& link : MeshNetwork(MeshRates::kByDistance, 12, 1).links()) {
    EXPECT_EQ(link.throughput_bps > 100e6, link.delay < absl::Milliseconds(100));
  }
}

TEST(MeshNetworksTest, FirstNodesAreNested) {
  const NetworkView view = MeshNetwork(MeshRates::kUneven, 9, 1);
  const NetworkView smaller = FirstNodes(view, 5);
  EXPECT_EQ(smaller.nodes().size(), 5u);
  EXPECT_EQ(smaller.links().size(), 20u);
  EXPECT_EQ(*smaller.FindLink(NodeId(2), NodeId(5)), *view.FindLink(NodeId(2), NodeId(5)));
}

}  // namespace
}  // namespace banyan
