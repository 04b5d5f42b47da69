#include "node/peers/link_windows.h"

#include <algorithm>
#include <optional>

#include "gtest/gtest.h"
#include "node/chunk_size.h"

namespace banyan {
namespace {

constexpr int64_t kChunkBytes = 1000;
constexpr int64_t kConnections = 4;
constexpr NodeId kNear(2), kFar(3);

// 8 Mbit/s and a tenth of a second there and back; one second to the other.
PolicySlice Slice(uint64_t version) {
  PolicySlice slice;
  slice.version = PolicyVersion(version);
  slice.chunk_max_elements = kChunkBytes / 4;
  slice.neighbours.resize(2);
  slice.neighbours[0].node = kNear;
  slice.neighbours[0].round_trip = absl::Milliseconds(100);
  slice.neighbours[1].node = kFar;
  slice.neighbours[1].round_trip = absl::Seconds(1);
  for (NeighbourSlice& neighbour : slice.neighbours) neighbour.rate_bps = 8e6;
  return slice;
}

PaceSearch::Shown AtLeast(double rate_bps) {
  PaceSearch::Shown shown;
  shown.rate_bps = rate_bps;
  return shown;
}

PaceSearch::Shown Busy(double rate_bps) {
  PaceSearch::Shown shown = AtLeast(rate_bps);
  shown.is_backlogged = true;
  return shown;
}

class LinkWindowsTest : public ::testing::Test {
 protected:
  void Add(const PolicySlice& slice) {
    auxiliary_paths_.AddPolicy(slice);
    windows_.AddPolicy(slice, auxiliary_paths_);
  }

  int64_t BytesFor(NodeId neighbour) const { return windows_.For(neighbour).value_or(LinkWindow()).size_bytes; }

  AuxiliarySelector auxiliary_paths_{NodeId(1)};
  LinkWindows windows_{{.connections = kConnections, .bytes_per_connection = 32768, .loss_limited = true}};
};

TEST_F(LinkWindowsTest, HoldTwiceTheBandwidthDelayProduct) {
  Add(Slice(1));
  EXPECT_EQ(BytesFor(kNear), 200'000);
  EXPECT_EQ(BytesFor(kFar), 2'000'000);
  EXPECT_EQ(windows_.For(NodeId(4)), std::nullopt);
}

TEST_F(LinkWindowsTest, HoldWhatALinkCarriesUntilALateAckAndAChunkMoreForEachConnection) {
  PolicySlice slice = Slice(1);
  slice.chunk_max_elements = 130 * kChunkBytes / 4;
  Add(slice);
  Add(Slice(2));
  // 140 kB in 100 ms and 40 ms more: two chunks, and three more.
  EXPECT_EQ(windows_.For(kNear)->connections, 3);
  EXPECT_EQ(BytesFor(kNear), 5 * WireBytes(130 * kChunkBytes, 2));
  windows_.RetirePolicies(PolicyVersion(2));
  EXPECT_EQ(BytesFor(kNear), 200'000);
}

TEST_F(LinkWindowsTest, HoldTwoChunksMoreThanALinkOfOneConnectionCarriesUntilALateAck) {
  PolicySlice slice = Slice(1);
  slice.chunk_max_elements = 13 * kChunkBytes / 4;
  slice.neighbours[0].rate_bps = 0.8e6;
  Add(slice);
  // 14 kB in 100 ms and 40 ms more.
  EXPECT_EQ(windows_.For(kNear)->connections, 1);
  EXPECT_EQ(BytesFor(kNear), 4 * WireBytes(13 * kChunkBytes, 2));
}

TEST_F(LinkWindowsTest, HoldSixteenChunksOfShortOrUnknownLinks) {
  PolicySlice slice = Slice(1);
  slice.neighbours[0].round_trip = absl::ZeroDuration();
  slice.neighbours[1].rate_bps = 0;
  Add(slice);
  EXPECT_EQ(BytesFor(kNear), 16 * WireBytes(kChunkBytes, 2));
  EXPECT_EQ(BytesFor(kFar), 16 * WireBytes(kChunkBytes, 2));
}

TEST_F(LinkWindowsTest, UseTheMoreConnectionsTheMoreIsOnItsWay) {
  PolicySlice slice = Slice(1);
  slice.neighbours[1].rate_bps = 4e6;
  Add(slice);
  EXPECT_EQ(windows_.For(kNear)->connections, 3);
  EXPECT_EQ(windows_.For(kFar)->connections, kConnections);
  slice.version = PolicyVersion(2);
  slice.neighbours[0].rate_bps = 4e6;
  slice.neighbours[1].rate_bps = 0;
  Add(slice);
  EXPECT_EQ(windows_.For(kNear)->connections, 3);
  windows_.RetirePolicies(PolicyVersion(2));
  EXPECT_EQ(windows_.For(kNear)->connections, 1);
  EXPECT_EQ(windows_.For(kFar)->connections, 1);
}

TEST_F(LinkWindowsTest, AreAsLargeAsALivePolicyNeeds) {
  PolicySlice slice = Slice(1);
  slice.neighbours.pop_back();
  Add(slice);
  slice = Slice(2);
  slice.neighbours[0].rate_bps /= 2;
  Add(slice);
  EXPECT_EQ(BytesFor(kNear), 200'000);
  EXPECT_EQ(BytesFor(kFar), 2'000'000);
  windows_.RetirePolicies(PolicyVersion(2));
  EXPECT_EQ(BytesFor(kNear), 100'000);
  windows_.RetirePolicies(PolicyVersion(3));
  EXPECT_EQ(windows_.For(kNear), std::nullopt);
}

TEST_F(LinkWindowsTest, LeaveToAnAuxiliaryPathWhatItCanTake) {
  PolicySlice slice = Slice(1);
  slice.auxiliary = {{{NodeId(1), NodeId(4), kNear}, 8e6, absl::Seconds(1), 0.5}};
  slice.transmission.primary_busy_bound = 2;
  Add(slice);
  EXPECT_EQ(BytesFor(kNear), auxiliary_paths_.PrimaryLimit(PolicyVersion(1), kNear));
  EXPECT_LT(BytesFor(kNear), 200'000);
  EXPECT_EQ(BytesFor(kFar), 2'000'000);
}

TEST_F(LinkWindowsTest, ShareACapByThePlansParts) {
  PolicySlice slice = Slice(1);
  slice.neighbours[0].capped_bps = 3e6;
  slice.neighbours[1].capped_bps = 1e6;
  Add(slice);
  // The mean round trip is (3 * 0.1 + 1 * 1) / 4 seconds.
  EXPECT_EQ(BytesFor(kNear), 2 * 3'000'000 / 8 * 0.325);
  EXPECT_EQ(BytesFor(kFar), 2 * 1'000'000 / 8);
  // But on its way to the cap each has its own rate.
  EXPECT_EQ(windows_.For(kNear)->connections, 3);
  EXPECT_EQ(windows_.For(kFar)->connections, kConnections);
  EXPECT_EQ(windows_.For(kNear)->pace_bps, kUnpaced);
}

TEST_F(LinkWindowsTest, PaceNoLinkWhoseRateIsReadLow) {
  PolicySlice slice = Slice(1);
  Add(slice);
  EXPECT_DOUBLE_EQ(windows_.For(kNear)->pace_bps, 8e6);
  slice.version = PolicyVersion(2);
  slice.transmission.estimator = RateEstimator::kOneWayDelay;
  Add(slice);
  windows_.RetirePolicies(PolicyVersion(2));
  EXPECT_EQ(windows_.For(kNear)->pace_bps, kUnpaced);
}

TEST_F(LinkWindowsTest, PaceALinkWhoseCapLetsAllThrough) {
  PolicySlice slice = Slice(1);
  slice.neighbours[0].capped_bps = 8e6;
  Add(slice);
  EXPECT_DOUBLE_EQ(windows_.For(kNear)->pace_bps, 8e6);
}

TEST_F(LinkWindowsTest, HaveTheSizeThatTheJobSays) {
  LinkWindows fixed({.fixed_bytes = 4321, .connections = kConnections});
  auxiliary_paths_.AddPolicy(Slice(1));
  fixed.AddPolicy(Slice(1), auxiliary_paths_);
  EXPECT_EQ(fixed.For(kNear)->size_bytes, 4321);
  EXPECT_EQ(fixed.For(kNear)->connections, kConnections);
  EXPECT_EQ(fixed.For(NodeId(4)), std::nullopt);
}

TEST_F(LinkWindowsTest, PaceConnectionsAtTheFastestRateOfALivePolicy) {
  Add(Slice(1));
  EXPECT_DOUBLE_EQ(windows_.For(kNear)->pace_bps, 8e6);
  PolicySlice faster = Slice(2);
  faster.neighbours[0].rate_bps = 16e6;
  Add(faster);
  Add(Slice(3));
  EXPECT_DOUBLE_EQ(windows_.For(kNear)->pace_bps, 16e6);
  windows_.RetirePolicies(PolicyVersion(3));
  EXPECT_DOUBLE_EQ(windows_.For(kNear)->pace_bps, 8e6);
}

TEST_F(LinkWindowsTest, UseFewConnectionsThatLossesDoNotHoldBack) {
  LinkWindows steady({.connections = kConnections, .bytes_per_connection = 32768});
  Add(Slice(1));
  steady.AddPolicy(Slice(1), auxiliary_paths_);
  EXPECT_EQ(windows_.For(kNear)->connections, 3);
  EXPECT_EQ(steady.For(kNear)->connections, 1);
  EXPECT_EQ(windows_.For(kFar)->connections, kConnections);
  EXPECT_EQ(steady.For(kFar)->connections, 1'000'000 / (LinkWindows::kSteadyFactor * 32768));
}

TEST_F(LinkWindowsTest, APaceIsAboveWhatIsMeasured) {
  EXPECT_DOUBLE_EQ(PaceAfter(8e6, 4e6), 8e6) << "slower than the policy knows: the next one says so";
  EXPECT_DOUBLE_EQ(PaceAfter(8e6, 7.6e6), 8e6) << "headers take the rest";
  EXPECT_GT(PaceAfter(8e6, 7.9e6), 8e6) << "as fast as its pace lets it be";
  EXPECT_GT(PaceAfter(8e6, 8.1e6), PaceAfter(8e6, 7.9e6));
  EXPECT_GT(PaceAfter(8e6, 8.5e6), 1.2 * 8.5e6) << "faster than the policy knows";
  EXPECT_EQ(PaceAfter(kUnpaced, 8e6), kUnpaced);
}

TEST_F(LinkWindowsTest, APaceGrowsWithALinkThatHasBecomeFaster) {
  double pace_bps = 8e6;
  // Of what goes at a pace a hundredth is lost between chunks.
  for (int look = 0; look < 10; ++look) pace_bps = PaceAfter(8e6, 0.99 * pace_bps);
  EXPECT_GT(pace_bps, 3 * 8e6);
}

TEST_F(LinkWindowsTest, APaceDoesNotFallWithWhatIsMeasuredAtIt) {
  double rate_bps = 8e6;
  for (int policy = 0; policy < 50; ++policy) {
    double pace_bps = rate_bps;
    // Headers of small chunks, and what is lost between them, take a twenty-fifth.
    for (int look = 0; look < 20; ++look) pace_bps = PaceAfter(rate_bps, std::min(8e6, 0.96 * pace_bps));
    rate_bps = std::min(8e6, 0.96 * pace_bps);
  }
  EXPECT_DOUBLE_EQ(rate_bps, 8e6);
}

TEST_F(LinkWindowsTest, DoNotPaceALinkOfUnknownRate) {
  PolicySlice slice = Slice(1);
  slice.neighbours[0].rate_bps = 0;
  slice.neighbours[1].rate_bps = 0;
  slice.neighbours[1].capped_bps = 1e6;
  Add(slice);
  EXPECT_EQ(windows_.For(kNear)->pace_bps, kUnpaced);
  EXPECT_EQ(windows_.For(kFar)->pace_bps, kUnpaced);
}

TEST_F(LinkWindowsTest, GrowWithWhatALinkHasShown) {
  PolicySlice slice = Slice(1);
  slice.neighbours[1].capped_bps = 1e6;
  Add(slice);
  const PaceSearch::Shown at_least = AtLeast(40e6);
  EXPECT_EQ(windows_.For(kNear, at_least)->size_bytes, 5 * BytesFor(kNear));
  EXPECT_GT(windows_.For(kNear, at_least)->connections, windows_.For(kNear)->connections);
  EXPECT_EQ(windows_.For(kFar, at_least)->size_bytes, BytesFor(kFar)) << "a cap's part stays";
}

TEST_F(LinkWindowsTest, ShrinkOnlyWhereALinkThatWasBusyShowedLessThanHalf) {
  Add(Slice(1));
  EXPECT_EQ(windows_.For(kNear, AtLeast(1e6))->size_bytes, BytesFor(kNear));
  EXPECT_EQ(windows_.For(kNear, Busy(4e6))->size_bytes, BytesFor(kNear));
  EXPECT_EQ(windows_.For(kNear, Busy(4e6))->rate_bps, 8e6);
  const LinkWindow slow = *windows_.For(kNear, Busy(2e6));
  EXPECT_EQ(slow.size_bytes, BytesFor(kNear) / 2);
  EXPECT_EQ(slow.rate_bps, 2e6) << "acks are expected as late as they come";
}

TEST_F(LinkWindowsTest, OfGuessedRatesNoAckIsExpectedAndNoPaceTaken) {
  PolicySlice slice = Slice(1);
  slice.neighbours[0].rate_is_guessed = true;
  Add(slice);
  EXPECT_TRUE(windows_.For(kNear)->is_guessed);
  EXPECT_EQ(windows_.For(kNear)->pace_bps, kUnpaced);
  EXPECT_EQ(windows_.For(kNear)->rate_bps, 0);
  EXPECT_EQ(BytesFor(kNear), 200'000);
  EXPECT_EQ(windows_.For(kNear, Busy(5e6))->rate_bps, 5e6);
  // Once a policy knows the rate, it holds.
  Add(Slice(2));
  EXPECT_FALSE(windows_.For(kNear)->is_guessed);
  EXPECT_EQ(windows_.For(kNear)->pace_bps, 8e6);
}

TEST_F(LinkWindowsTest, ALimitGrowsWithWhatTheLinkHasShown) {
  PolicySlice slice = Slice(1);
  slice.auxiliary = {{{NodeId(1), NodeId(4), kNear}, 8e6, absl::Seconds(1), 0.5}};
  slice.transmission.primary_busy_bound = 2;
  Add(slice);
  EXPECT_EQ(windows_.For(kNear, AtLeast(24e6))->size_bytes, 3 * BytesFor(kNear));
}

}  // namespace
}  // namespace banyan
