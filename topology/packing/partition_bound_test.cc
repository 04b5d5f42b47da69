#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "topology/packing/rate_bound.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// Every way to number the groups of the nodes, each from its definition alone.
double ByForce(const NetworkView& view) {
  const size_t nodes = view.nodes().size();
  double bound_bps = std::numeric_limits<double>::infinity();
  std::vector<size_t> group(nodes, 0);
  while (true) {
    const double groups = static_cast<double>(std::set<size_t>(group.begin(), group.end()).size());
    std::vector<double> sent(nodes, 0);
    std::vector<double> received(nodes, 0);
    for (const NetworkLink& link : view.links()) {
      const size_t from = *view.IndexOf(link.from);
      const size_t to = *view.IndexOf(link.to);
      if (group[from] == group[to]) continue;
      sent[from] += link.throughput_bps;
      received[to] += link.throughput_bps;
    }
    double up = 0;
    double down = 0;
    for (size_t i = 0; i < nodes; ++i) {
      up += std::min(sent[i], view.nodes()[i].up_cap_bps.value_or(1e30));
      down += std::min(received[i], view.nodes()[i].down_cap_bps.value_or(1e30));
    }
    if (groups > 1) bound_bps = std::min(bound_bps, std::min(up, down) / (2 * (groups - 1)));
    size_t digit = 0;
    while (digit < nodes && ++group[digit] == nodes) group[digit++] = 0;
    if (digit == nodes) return bound_bps;
  }
}

TEST(PartitionBoundTest, IsTheLeastOverAllGroupings) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const NetworkView view = RandomNetwork(3 + static_cast<int>(seed % 4), 3, seed);
    EXPECT_NEAR(PartitionBoundBps(view), ByForce(view), 1);
    std::vector<NetworkNode> nodes(view.nodes().begin(), view.nodes().end());
    nodes[0].up_cap_bps = 30e6;
    nodes[1].down_cap_bps = 20e6;
    const NetworkView capped = *NetworkView::Create(nodes, {view.links().begin(), view.links().end()});
    EXPECT_NEAR(PartitionBoundBps(capped), ByForce(capped), 1);
  }
}

TEST(PartitionBoundTest, KnownNetworks) {
  EXPECT_NEAR(PartitionBoundBps(TriangleNetwork()), 12.45e6, 1);
  EXPECT_NEAR(PartitionBoundBps(CompleteNetwork(4, 1)), 2e6, 1);
  EXPECT_GE(PartitionBoundBps(Internet2Network()), 110e6);
  EXPECT_NEAR(PartitionBoundBps(CompleteNetwork(static_cast<int>(kMaxPartitionNodes), 1)), 5.5e6, 1);
}

TEST(PartitionBoundTest, TooFewOrTooManyNodes) {
  EXPECT_TRUE(std::isinf(PartitionBoundBps(NetworkView())));
  EXPECT_TRUE(std::isinf(PartitionBoundBps(SampleNetwork(1, {}))));
  EXPECT_TRUE(std::isinf(PartitionBoundBps(CompleteNetwork(static_cast<int>(kMaxPartitionNodes) + 1, 1))));
}

}  // namespace
}  // namespace banyan
