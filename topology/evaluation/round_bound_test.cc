#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "topology/evaluation/round_time.h"
#include "topology/evaluation/simple_bound.h"

namespace banyan {
namespace {

NetworkLink Link(uint32_t from, uint32_t to, int64_t delay_ms) {
  NetworkLink link;
  link.from = NodeId(from);
  link.to = NodeId(to);
  link.throughput_bps = 1e9;
  link.delay = absl::Milliseconds(delay_ms);
  return link;
}

NetworkView Network(uint32_t nodes, const std::vector<NetworkLink>& links) {
  std::vector<NetworkNode> all(nodes);
  for (uint32_t i = 0; i < nodes; ++i) all[i] = {NodeId(i + 1), std::string(1, static_cast<char>('a' + i)), {}, {}};
  return *NetworkView::Create(all, links);
}

// a - b - c, slower there than back.
NetworkView Line() { return Network(3, {Link(1, 2, 10), Link(2, 1, 1), Link(2, 3, 20), Link(3, 2, 2)}); }

TEST(RoundBoundTest, SmallModelsTakeTheWayThereAndBackOverTheBestPlace) {
  // To b at most 10 ms, and from it at most 20 ms.
  EXPECT_EQ(LeastRoundTime(Line(), 1, 1e9), absl::Milliseconds(30));
}

TEST(RoundBoundTest, LargeModelsTakeWhatTheLinksNeed) {
  EXPECT_EQ(LeastRoundTime(Line(), 1e9, 1e9), absl::Seconds(kBitsPerElement));
}

TEST(RoundBoundTest, OnLinksThatAreFasterThanMemoryTheSumsCount) {
  EXPECT_EQ(LeastRoundTime(Line(), 1e10, 1e15), absl::Seconds(1e10 * 12 * 2 / 3 / kSumBytesPerSecond));
}

TEST(RoundBoundTest, NobodyIsReachedWithoutLinks) {
  EXPECT_EQ(LeastRoundTime(Network(2, {Link(1, 2, 5)}), 1, 1e9), absl::InfiniteDuration());
  EXPECT_EQ(LeastRoundTime(Network(1, {}), 1, 1e9), absl::ZeroDuration());
}

}  // namespace
}  // namespace banyan
