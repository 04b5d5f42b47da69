#include "node/peers/auxiliary_selector.h"

#include <algorithm>
#include <map>

#include "gtest/gtest.h"
#include "node/chunk_size.h"

namespace banyan {
namespace {

using Path = AuxiliarySelector::Path;

const Path kFast = {NodeId(1), NodeId(3), NodeId(2)};
const Path kSlow = {NodeId(1), NodeId(4), NodeId(2)};
constexpr int64_t kChunkBytes = 1000;

Timestamp At(int64_t seconds) { return Timestamp::FromNanoseconds(seconds * 1'000'000'000); }

// Two auxiliary paths to node 2. The primary link holds 5,000 bytes on its way, the auxiliary paths 3,000 and 2,000,
// and to that come the chunks that the settings allow.
PolicySlice Slice() {
  PolicySlice slice;
  slice.version = PolicyVersion(7);
  slice.chunk_max_elements = kChunkBytes / 4;
  NeighbourSlice neighbour;
  neighbour.node = NodeId(2);
  neighbour.rate_bps = 40e3;
  neighbour.round_trip = absl::Seconds(1);
  slice.neighbours = {neighbour};
  slice.auxiliary = {{kFast, 24e3, absl::Seconds(1), 0.2}, {kSlow, 16e3, absl::Seconds(1), 0.1}};
  slice.transmission.primary_busy_bound = 2;
  slice.transmission.auxiliary_queue_length = 1;
  return slice;
}

class AuxiliarySelectorTest : public ::testing::Test {
 protected:
  AuxiliarySelectorTest() { selector_.AddPolicy(Slice()); }

  // With so much before it on the primary path that every auxiliary path is sooner, unless told otherwise.
  const Path* Pick(int64_t load_bytes = 1 << 20, Timestamp now = At(1)) {
    return selector_.PickPath(
        PolicyVersion(7), NodeId(2), kChunkBytes, load_bytes, 0,
        [this](NodeId neighbour) { return neighbour != full_; }, now);
  }
  // Puts a chunk on its way along `path`; one of the same index leaves its former one.
  ChunkInFlight& Sent(uint32_t index, const Path& path, Timestamp now = At(1)) {
    ChunkInFlight& chunk = chunks_[index];
    selector_.OnDone(chunk);
    chunk.message.id.chunk = ChunkIndex(index);
    chunk.message.route.path = path;
    chunk.message.is_auxiliary = path.size() > 2;
    chunk.payload = {Buffer::Allocate(kChunkBytes, DataType::kByte)};
    selector_.OnSent(chunk, now);
    return chunk;
  }

  AuxiliarySelector selector_{NodeId(1)};
  std::map<uint32_t, ChunkInFlight> chunks_;
  NodeId full_;
};

TEST_F(AuxiliarySelectorTest, ThePrimaryPathIsBusyBeyondItsBandwidthDelayProductAndTheBound) {
  EXPECT_FALSE(selector_.IsPrimaryBusy(PolicyVersion(7), NodeId(2), 7 * WireBytes(kChunkBytes, 2)));
  EXPECT_TRUE(selector_.IsPrimaryBusy(PolicyVersion(7), NodeId(2), 7 * WireBytes(kChunkBytes, 2) + 1));
  EXPECT_FALSE(selector_.IsPrimaryBusy(PolicyVersion(7), NodeId(5), 1 << 20));
  EXPECT_FALSE(selector_.IsPrimaryBusy(PolicyVersion(8), NodeId(2), 1 << 20));
}

TEST_F(AuxiliarySelectorTest, FillsTheFirstAuxiliaryPathThenTheNext) {
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(*Pick(), kFast);
    Sent(i, kFast);
  }
  for (uint32_t i = 4; i < 7; ++i) {
    ASSERT_EQ(*Pick(), kSlow);
    Sent(i, kSlow);
  }
  EXPECT_EQ(Pick(), nullptr);
  selector_.OnDone(Sent(0, kFast));
  EXPECT_EQ(*Pick(), kFast);
}

TEST_F(AuxiliarySelectorTest, AFullFirstLinkClosesItsAuxiliaryPaths) {
  full_ = NodeId(3);
  EXPECT_EQ(*Pick(), kSlow);
}

TEST_F(AuxiliarySelectorTest, AChunkThatChangesItsWayLeavesTheOther) {
  Sent(1, kFast);
  EXPECT_EQ(selector_.BytesOn(kFast), WireBytes(kChunkBytes, 3));
  Sent(1, {NodeId(1), NodeId(2)});
  EXPECT_EQ(selector_.BytesOn(kFast), 0);
}

TEST_F(AuxiliarySelectorTest, APathOnWhichARelayRefusesIsTriedMoreAndMoreRarelyByOneChunk) {
  Timestamp now = At(1);
  absl::Duration wait = AuxiliarySelector::kFirstRefusal;
  for (int refusal = 1; refusal <= 12; ++refusal) {
    for (uint32_t chunk = 0; chunk < (refusal == 1 ? 4u : 1u); ++chunk) {
      ASSERT_EQ(*Pick(AuxiliarySelector::kStuck, now), kFast);
      Sent(chunk, kFast, now);
    }
    EXPECT_EQ(*Pick(AuxiliarySelector::kStuck, now), kSlow);
    for (uint32_t chunk = 0; chunk < 4; ++chunk) {
      selector_.OnRefused(kFast, now);
      Sent(chunk, {NodeId(1), NodeId(2)}, now);
    }
    EXPECT_EQ(*Pick(AuxiliarySelector::kStuck, now + (wait - absl::Nanoseconds(1))), kSlow);
    now = now + wait;
    wait = std::min(2 * wait, AuxiliarySelector::kLongestRefusal);
  }
  EXPECT_EQ(wait, AuxiliarySelector::kLongestRefusal);
  // One that arrives opens the path for all.
  selector_.OnDelivered(Sent(0, kFast, now), now);
  for (uint32_t chunk = 0; chunk < 4; ++chunk) {
    ASSERT_EQ(*Pick(AuxiliarySelector::kStuck, now), kFast);
    Sent(chunk, kFast, now);
  }
}

TEST_F(AuxiliarySelectorTest, AnAuxiliaryPathThatIsNotSoonerIsNoHelp) {
  // Two hops of a third of a second and half a second of delay, against 5,000 bytes a second.
  EXPECT_EQ(Pick(3000), nullptr);
  EXPECT_EQ(*Pick(4000), kFast);
  // Of late a chunk took twenty seconds there; what is older counts no more.
  selector_.OnDelivered(Sent(1, kFast, At(1)), At(21));
  EXPECT_EQ(*Pick(50000, At(22)), kSlow);
  EXPECT_EQ(*Pick(50000, At(24)), kFast);
}

TEST_F(AuxiliarySelectorTest, OnlyAPrimaryPathThatIsSlowOrStuckSharesWithUnplannedAuxiliaryPaths) {
  PolicySlice slice = Slice();
  slice.version = PolicyVersion(8);
  slice.auxiliary = {{kFast, 24e3, absl::Seconds(1), 0}};
  selector_.AddPolicy(slice);
  PolicyVersion version = slice.version;
  const auto pick = [&](int64_t load_bytes, double fastest_bps) {
    return selector_.PickPath(
        version, NodeId(2), kChunkBytes, load_bytes, fastest_bps, [](NodeId) { return true; }, At(1));
  };
  EXPECT_EQ(pick(1 << 20, 0), nullptr);
  EXPECT_EQ(pick(1 << 20, 33e3), nullptr);
  EXPECT_EQ(*pick(1 << 20, 31e3), kFast);
  EXPECT_EQ(*pick(AuxiliarySelector::kStuck, 0), kFast);
  // Where the trees leave room, a little slower is enough.
  slice.version = version = PolicyVersion(9);
  slice.auxiliary[0].spare = 0.2;
  selector_.AddPolicy(slice);
  EXPECT_EQ(pick(1 << 20, 35e3), nullptr);
  EXPECT_EQ(*pick(1 << 20, 33e3), kFast);
}

TEST_F(AuxiliarySelectorTest, ALinkThatSharesACapIsSlowBelowItsPartOnly) {
  PolicySlice slice = Slice();
  slice.version = PolicyVersion(8);
  slice.neighbours[0].capped_bps = 40e3;
  slice.routes = {{{NodeId(1), NodeId(2), NodeId(6)}, 30e3, absl::Seconds(1)}};
  slice.auxiliary = {{kFast, 24e3, absl::Seconds(1), 0},
                     {{NodeId(1), NodeId(3), NodeId(6)}, 24e3, absl::Seconds(1), 0}};
  selector_.AddPolicy(slice);
  const auto has_auxiliary_path = [&](NodeId destination, double fastest_bps) {
    return selector_.PickPath(
               slice.version, destination, kChunkBytes, 1 << 20, fastest_bps, [](NodeId) { return true; }, At(1)) !=
           nullptr;
  };
  EXPECT_FALSE(has_auxiliary_path(NodeId(2), 17e3));
  EXPECT_TRUE(has_auxiliary_path(NodeId(2), 15e3));
  EXPECT_FALSE(has_auxiliary_path(NodeId(6), 17e3));
  EXPECT_TRUE(has_auxiliary_path(NodeId(6), 15e3));
}

TEST_F(AuxiliarySelectorTest, AWithdrawnPolicyHasNoAuxiliaryPaths) {
  selector_.RetirePolicies(PolicyVersion(8));
  EXPECT_EQ(Pick(), nullptr);
  EXPECT_EQ(selector_.PrimaryPath(PolicyVersion(7), NodeId(2)), (Path{NodeId(1), NodeId(2)}));
}

TEST_F(AuxiliarySelectorTest, RoutedPrimaryPathsAreKnown) {
  PolicySlice slice = Slice();
  slice.version = PolicyVersion(9);
  slice.routes = {{{NodeId(1), NodeId(3), NodeId(6)}, 8e3, absl::Seconds(1)}};
  selector_.AddPolicy(slice);
  EXPECT_EQ(selector_.PrimaryPath(PolicyVersion(9), NodeId(6)), (Path{NodeId(1), NodeId(3), NodeId(6)}));
}

}  // namespace
}  // namespace banyan
