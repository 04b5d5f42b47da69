#include <gtest/gtest.h>

#include <vector>

#include "core/ids.h"
#include "wan/forwarder.h"

namespace banyan {
namespace {

// Of a network of two nodes, with these delays there and back.
absl::Duration TimeWith(absl::Duration there, absl::Duration back) {
  const NodeId a(1);
  const NodeId b(2);
  const std::vector<NetworkNode> nodes = {{.id = a, .name = "a", .up_cap_bps = {}, .down_cap_bps = {}},
                                          {.id = b, .name = "b", .up_cap_bps = {}, .down_cap_bps = {}}};
  const std::vector<NetworkLink> links = {{.from = a, .to = b, .throughput_bps = 1e8, .delay = there},
                                          {.from = b, .to = a, .throughput_bps = 1e8, .delay = back}};
  return GatherTime(*NetworkView::Create(nodes, links));
}

TEST(GatherTimeTest, IsAPartOfTheShortestDelay) {
  EXPECT_EQ(TimeWith(absl::Milliseconds(8), absl::Milliseconds(200)), absl::Microseconds(500));
  EXPECT_EQ(TimeWith(absl::Milliseconds(200), absl::Milliseconds(8)), absl::Microseconds(500));
}

TEST(GatherTimeTest, HasBounds) {
  EXPECT_EQ(TimeWith(absl::ZeroDuration(), absl::Milliseconds(8)), kLeastGatherTime);
  EXPECT_EQ(TimeWith(absl::Milliseconds(200), absl::Milliseconds(200)), kMostGatherTime);
}

}  // namespace
}  // namespace banyan
