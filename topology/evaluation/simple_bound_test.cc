#include "topology/evaluation/simple_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(SimpleBoundTest, SumOfLinksDecides) {
  EXPECT_NEAR(SimpleBoundBps(CompleteNetwork(4, 1)), 2e6, 1);
  EXPECT_NEAR(SimpleBoundBps(TriangleNetwork()), 12.45e6, 1);
}

TEST(SimpleBoundTest, ANodesLinksDecide) {
  // n3 hears only 1 Mbit/s.
  EXPECT_NEAR(SimpleBoundBps(SampleNetwork(3, {{1, 2, 50}, {2, 1, 50}, {2, 3, 1}, {3, 2, 50}})), 1e6, 1);
  EXPECT_NEAR(SimpleBoundBps(SampleNetwork(3, {{1, 2, 50}, {2, 1, 50}, {2, 3, 50}, {3, 2, 1}})), 1e6, 1);
}

TEST(SimpleBoundTest, ACapDecides) {
  const NetworkView view = CompleteNetwork(4, 10);
  std::vector<NetworkNode> nodes(view.nodes().begin(), view.nodes().end());
  nodes[2].down_cap_bps = 3e6;
  EXPECT_NEAR(SimpleBoundBps(*NetworkView::Create(nodes, {view.links().begin(), view.links().end()})), 3e6, 1);
}

TEST(SimpleBoundTest, Internet2) { EXPECT_NEAR(SimpleBoundBps(Internet2Network()), 126e6, 1); }

TEST(SimpleBoundTest, NothingToSendNoBound) {
  EXPECT_TRUE(std::isinf(SimpleBoundBps(SampleNetwork(1, {}))));
  EXPECT_TRUE(std::isinf(SimpleBoundBps(NetworkView())));
}

}  // namespace
}  // namespace banyan
