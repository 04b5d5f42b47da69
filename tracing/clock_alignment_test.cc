#include "tracing/clock_alignment.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr Timestamp At(int64_t microseconds) { return Timestamp::FromNanoseconds(microseconds * 1000); }

RoundRecords::ClockSample Sample(uint32_t peer, int64_t at_us, int64_t offset_us, int64_t uncertainty_us) {
  return {NodeId(peer), At(at_us), absl::Microseconds(offset_us), absl::Microseconds(uncertainty_us)};
}

TEST(ClockAlignmentTest, FollowsTheChainThatIsSurest) {
  std::map<NodeId, RoundRecords> nodes;
  nodes[NodeId(1)].clocks = {Sample(2, 1000, 500, 10), Sample(3, 1000, 9999, 900)};
  nodes[NodeId(2)].clocks = {Sample(3, 1500, -2000, 20)};
  nodes[NodeId(3)];
  const ClockAlignment clocks(nodes);
  EXPECT_EQ(clocks.ToCommon(NodeId(1), At(70)), At(70));
  EXPECT_EQ(clocks.ToCommon(NodeId(2), At(1500)), At(1000));
  EXPECT_EQ(clocks.ToCommon(NodeId(3), At(-500)), At(1000));
  EXPECT_EQ(clocks.uncertainty(), absl::Microseconds(30));
}

TEST(ClockAlignmentTest, ClocksPartEvenlyBetweenTwoComparisons) {
  std::map<NodeId, RoundRecords> nodes;
  nodes[NodeId(1)].clocks = {Sample(2, 0, 1000, 5), Sample(2, 1000000, 1100, 5)};
  nodes[NodeId(2)];
  const ClockAlignment clocks(nodes);
  EXPECT_EQ(clocks.ToCommon(NodeId(2), At(1000)), At(0));
  EXPECT_EQ(clocks.ToCommon(NodeId(2), At(501050)), At(500000));
  EXPECT_EQ(clocks.ToCommon(NodeId(2), At(1001100)), At(1000000));
  EXPECT_EQ(clocks.ToCommon(NodeId(2), At(2001100)), At(2000000));
}

// There is no heartbeat: the fastest chunks there and back took 3 ms each.
TEST(ClockAlignmentTest, ChunksCompareClocksToo) {
  std::map<NodeId, RoundRecords> nodes;
  const ChunkJourney journey;
  nodes[NodeId(1)].arrivals = {{journey, NodeId(2), 10, At(50000), At(3000)},
                               {journey, NodeId(2), 10, At(60000), At(19000)}};
  nodes[NodeId(2)].arrivals = {{journey, NodeId(1), 10, At(2000), At(55000)}};
  nodes[NodeId(3)];
  const ClockAlignment clocks(nodes);
  EXPECT_EQ(clocks.ToCommon(NodeId(2), At(55000)), At(5000));
  EXPECT_EQ(clocks.uncertainty(), absl::Milliseconds(3));
  EXPECT_FALSE(clocks.Knows(NodeId(3)));
}

}  // namespace
}  // namespace banyan
