#include "node/peers/delivery_tracker.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr NodeId kParent(2);
constexpr NodeId kFar(3);

Timestamp At(int64_t seconds) { return Timestamp::FromNanoseconds(seconds * 1'000'000'000); }

ChunkId Id(uint32_t chunk) {
  ChunkId id;
  id.chunk = ChunkIndex(chunk);
  return id;
}

ChunkMessage Chunk(uint32_t chunk, std::vector<NodeId> path = {NodeId(1), kParent}) {
  ChunkMessage message;
  message.id = Id(chunk);
  message.route.path = std::move(path);
  return message;
}

class DeliveryTrackerTest : public ::testing::Test {
 protected:
  ChunkPtr Add(ChunkMessage message) {
    auto chunk = std::make_shared<ChunkInFlight>(std::move(message), Payload{Buffer::Allocate(10)});
    tracker_.Add(chunk);
    return chunk;
  }
  ChunkPtr Add(uint32_t chunk) { return Add(Chunk(chunk)); }
  // The same over the relay kParent.
  ChunkPtr AddFar(uint32_t chunk) { return Add(Chunk(chunk, {NodeId(1), kParent, kFar})); }
  // The first hop has it at once.
  ChunkPtr AddAwaited(uint32_t chunk, Timestamp now) {
    ChunkPtr added = Add(chunk);
    tracker_.OnLinkAck(*added, now);
    return added;
  }

  DeliveryTracker tracker_{absl::Seconds(2)};
};

TEST_F(DeliveryTrackerTest, TheClockStartsAtTheLinkAck) {
  const ChunkPtr chunk = Add(1);
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
  tracker_.OnLinkAck(*chunk, At(10));
  EXPECT_EQ(tracker_.NextDeadline(), At(12));
}

TEST_F(DeliveryTrackerTest, TheLinkAckOfACopyThatNobodyWaitsForStartsNoClock) {
  Add(1);
  ChunkInFlight copy(Chunk(1, {NodeId(1), kFar, kParent}), {});
  tracker_.OnLinkAck(copy, At(10));
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
}

TEST_F(DeliveryTrackerTest, ADeliveryAckEndsIt) {
  const ChunkPtr chunk = Add(1);
  const ChunkPtr again = Add(1);
  EXPECT_EQ(tracker_.kept_bytes(), 40);
  EXPECT_EQ(again->delivery, ChunkInFlight::Delivery::kNobodyWaits);
  tracker_.OnLinkAck(*chunk, At(10));
  EXPECT_EQ(tracker_.OnDeliveryAck(kFar, Id(1), At(10)), nullptr);
  EXPECT_EQ(tracker_.OnDeliveryAck(kParent, Id(1), At(10)), chunk);
  EXPECT_EQ(tracker_.OnDeliveryAck(kParent, Id(1), At(10)), nullptr);
  EXPECT_EQ(chunk->delivery, ChunkInFlight::Delivery::kNobodyWaits);
  EXPECT_EQ(tracker_.kept_bytes(), 0);
  EXPECT_EQ(tracker_.size(), 0u);
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
}

TEST_F(DeliveryTrackerTest, EachWaitIsTwiceTheLast) {
  const ChunkPtr chunk = Add(1);
  int64_t now = 0;
  for (int64_t wait : {2, 4, 8, 16, 20, 20, 20}) {
    tracker_.OnLinkAck(*chunk, At(now));
    EXPECT_TRUE(tracker_.TakeOverdue(At(now + wait - 1)).empty());
    now += wait;
    EXPECT_EQ(tracker_.TakeOverdue(At(now)).size(), 1u);
    // Until the link has it there again, no time runs.
    EXPECT_EQ(tracker_.NextDeadline(), kNever);
  }
}

TEST_F(DeliveryTrackerTest, SlowAcksLengthenTheWaitOfAll) {
  AddAwaited(1, At(0));
  tracker_.OnDeliveryAck(kParent, Id(1), At(5));
  AddAwaited(2, At(10));
  EXPECT_EQ(tracker_.NextDeadline(), At(30));
}

TEST_F(DeliveryTrackerTest, AcksOfResentChunksTellNoTime) {
  int64_t now = 0;
  for (uint32_t index = 1; index <= 50; ++index) {
    const ChunkPtr chunk = AddAwaited(index, At(now));
    now += 2;
    ASSERT_EQ(tracker_.TakeOverdue(At(now)).size(), 1u) << index;
    tracker_.OnLinkAck(*chunk, At(now));
    EXPECT_NE(tracker_.OnDeliveryAck(kParent, Id(index), At(now + 1)), nullptr);
    // One that arrives at its first sending brings the first wait back.
    AddAwaited(1000, At(now));
    EXPECT_NE(tracker_.OnDeliveryAck(kParent, Id(1000), At(now)), nullptr);
  }
}

TEST_F(DeliveryTrackerTest, ALossMakesTheNextChunksWaitLongerUntilOneArrivesAtOnce) {
  AddAwaited(1, At(0));
  EXPECT_EQ(tracker_.TakeOverdue(At(2)).size(), 1u);
  AddAwaited(2, At(2));
  EXPECT_EQ(tracker_.NextDeadline(), At(6));
  tracker_.OnDeliveryAck(kParent, Id(1), At(2));
  tracker_.OnDeliveryAck(kParent, Id(2), At(2));
  AddAwaited(3, At(10));
  EXPECT_EQ(tracker_.NextDeadline(), At(12));
}

TEST_F(DeliveryTrackerTest, TheSlowestAcksDoNotMakeAnyChunkWaitForMinutes) {
  AddAwaited(1, At(0));
  tracker_.OnDeliveryAck(kParent, Id(1), At(1000));
  AddAwaited(2, At(1000));
  EXPECT_EQ(tracker_.NextDeadline(), At(1000) + DeliveryTracker::kLongestWait);
}

TEST_F(DeliveryTrackerTest, ARelayedChunkMayTakeLonger) {
  tracker_.OnLinkAck(*AddFar(1), At(0));
  EXPECT_EQ(tracker_.NextDeadline(), At(16));
}

TEST_F(DeliveryTrackerTest, ARefusedChunkWaitsForItsGrant) {
  const ChunkPtr refused = AddAwaited(1, At(0));
  AddAwaited(2, At(0));
  tracker_.OnBusy(kParent, Id(1), At(1));
  EXPECT_TRUE(tracker_.OnGrant(kFar).empty());
  EXPECT_EQ(tracker_.OnGrant(kParent), std::vector<ChunkPtr>{refused});
  EXPECT_EQ(PayloadBytes(refused->payload), 40);
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
}

TEST_F(DeliveryTrackerTest, AGrantMayNameWhatItIsFor) {
  AddAwaited(1, At(0));
  const ChunkPtr second = AddAwaited(2, At(0));
  AddAwaited(3, At(0));
  for (uint32_t chunk : {1, 2}) tracker_.OnBusy(kParent, Id(chunk), At(1));
  EXPECT_TRUE(tracker_.OnGrant(kFar, {Id(2)}).empty());
  EXPECT_EQ(tracker_.OnGrant(kParent, {Id(2), Id(3), Id(9), Id(2)}), std::vector<ChunkPtr>{second});
  EXPECT_EQ(tracker_.OnGrant(kParent).size(), 1u);
}

TEST_F(DeliveryTrackerTest, ARefusedChunkIsTriedAgainWithoutAGrant) {
  const ChunkPtr chunk = AddAwaited(1, At(0));
  tracker_.OnBusy(kParent, Id(1), At(1));
  EXPECT_TRUE(tracker_.TakeOverdue(At(8)).empty());
  EXPECT_EQ(tracker_.TakeOverdue(At(9)).size(), 1u);
  tracker_.OnLinkAck(*chunk, At(9));
  tracker_.OnBusy(kParent, Id(1), At(10));
  EXPECT_TRUE(tracker_.TakeOverdue(At(25)).empty());
  EXPECT_EQ(tracker_.TakeOverdue(At(26)).size(), 1u);
}

TEST_F(DeliveryTrackerTest, ABusyRelayHoldsBackOnlyWhatGoesThroughIt) {
  const ChunkPtr through = AddFar(1);
  tracker_.OnLinkAck(*through, At(0));
  tracker_.OnLinkAck(*Add(Chunk(1, {NodeId(1), NodeId(4), NodeId(5)})), At(0));
  tracker_.OnBusy(kParent, Id(1), At(1));
  EXPECT_TRUE(tracker_.OnGrant(NodeId(4)).empty());
  EXPECT_EQ(tracker_.OnGrant(kParent), std::vector<ChunkPtr>{through});
}

TEST_F(DeliveryTrackerTest, AStrangeOrUnknownRefusalMeansNothing) {
  Add(1);
  tracker_.OnBusy(kParent, Id(1), At(0));  // before the link ack
  tracker_.OnBusy(kParent, Id(9), At(0));
  tracker_.OnBusy(NodeId(9), Id(1), At(0));
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
}

TEST_F(DeliveryTrackerTest, RefusalsAndGrantsInTurnQueueNothingTwice) {
  AddAwaited(1, At(0));
  size_t resent = 0;
  for (int i = 0; i < 100; ++i) {
    tracker_.OnBusy(kParent, Id(1), At(1));
    resent += tracker_.OnGrant(kParent).size();
  }
  EXPECT_EQ(resent, 1u);
}

TEST_F(DeliveryTrackerTest, ARoundThatIsClosedEverywhereIsDropped) {
  AddAwaited(1, At(0));
  AddAwaited(2, At(0));
  tracker_.OnBusy(kParent, Id(2), At(0));
  EXPECT_TRUE(tracker_.DropRound(Id(1).key, Id(1).round.Next()).empty());
  EXPECT_EQ(tracker_.DropRound(Id(1).key, Id(1).round).size(), 2u);
  EXPECT_EQ(tracker_.kept_bytes(), 0);
  EXPECT_TRUE(tracker_.TakeOverdue(At(1000)).empty());
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
  EXPECT_EQ(tracker_.OnDeliveryAck(kParent, Id(1), At(1001)), nullptr);
}

TEST_F(DeliveryTrackerTest, ClearDropsAll) {
  const ChunkPtr chunk = AddAwaited(1, At(0));
  tracker_.OnBusy(kParent, Id(1), At(0));
  tracker_.Clear();
  EXPECT_EQ(chunk->delivery, ChunkInFlight::Delivery::kNobodyWaits);
  EXPECT_EQ(tracker_.kept_bytes(), 0);
  EXPECT_TRUE(tracker_.TakeOverdue(At(1000)).empty());
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
}

}  // namespace
}  // namespace banyan
