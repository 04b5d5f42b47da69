#include "node/peers/delivery_tracker.h"

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
  void Add(ChunkMessage message) { tracker_.Add(message, {Buffer::Allocate(10)}); }
  // The same over the relay kParent.
  void AddFar(uint32_t chunk) { Add(Chunk(chunk, {NodeId(1), kParent, kFar})); }

  DeliveryTracker tracker_{absl::Seconds(2)};
};

TEST_F(DeliveryTrackerTest, TheClockStartsAtTheLinkAck) {
  Add(Chunk(1));
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
  tracker_.OnLinkAck(Chunk(1), At(10));
  EXPECT_EQ(tracker_.NextDeadline(), At(12));
}

TEST_F(DeliveryTrackerTest, TheLinkAckOfACopyOnAnotherPathStartsNoClock) {
  Add(Chunk(1));
  tracker_.OnLinkAck(Chunk(1, {NodeId(1), kFar, kParent}), At(10));
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
}

TEST_F(DeliveryTrackerTest, ADeliveryAckEndsIt) {
  Add(Chunk(1));
  Add(Chunk(1));
  EXPECT_EQ(tracker_.kept_bytes(), 40);
  tracker_.OnLinkAck(Chunk(1), At(10));
  EXPECT_FALSE(tracker_.OnDeliveryAck(kFar, Id(1), At(10)));
  EXPECT_TRUE(tracker_.OnDeliveryAck(kParent, Id(1), At(10)));
  EXPECT_FALSE(tracker_.OnDeliveryAck(kParent, Id(1), At(10)));
  EXPECT_EQ(tracker_.kept_bytes(), 0);
  EXPECT_EQ(tracker_.size(), 0u);
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
}

TEST_F(DeliveryTrackerTest, EachWaitIsTwiceTheLast) {
  Add(Chunk(1));
  int64_t now = 0;
  for (int64_t wait : {2, 4, 8, 16, 20, 20, 20}) {
    tracker_.OnLinkAck(Chunk(1), At(now));
    EXPECT_TRUE(tracker_.TakeOverdue(At(now + wait - 1)).empty());
    now += wait;
    EXPECT_EQ(tracker_.TakeOverdue(At(now)).size(), 1u);
    // Until the link has it there again, no time runs.
    EXPECT_EQ(tracker_.NextDeadline(), kNever);
  }
}

TEST_F(DeliveryTrackerTest, SlowAcksLengthenTheWaitOfAll) {
  Add(Chunk(1));
  Add(Chunk(2));
  tracker_.OnLinkAck(Chunk(1), At(0));
  tracker_.OnDeliveryAck(kParent, Id(1), At(5));
  tracker_.OnLinkAck(Chunk(2), At(10));
  EXPECT_EQ(tracker_.NextDeadline(), At(30));
}

TEST_F(DeliveryTrackerTest, AcksOfResentChunksTellNoTime) {
  int64_t now = 0;
  for (uint32_t chunk = 1; chunk <= 50; ++chunk) {
    Add(Chunk(chunk));
    tracker_.OnLinkAck(Chunk(chunk), At(now));
    now += 2;
    ASSERT_EQ(tracker_.TakeOverdue(At(now)).size(), 1u) << chunk;
    tracker_.OnLinkAck(Chunk(chunk), At(now));
    EXPECT_TRUE(tracker_.OnDeliveryAck(kParent, Id(chunk), At(now + 1)));
    // One that arrives at its first sending brings the first wait back.
    Add(Chunk(1000));
    tracker_.OnLinkAck(Chunk(1000), At(now));
    EXPECT_TRUE(tracker_.OnDeliveryAck(kParent, Id(1000), At(now)));
  }
}

TEST_F(DeliveryTrackerTest, ALossMakesTheNextChunksWaitLongerUntilOneArrivesAtOnce) {
  Add(Chunk(1));
  tracker_.OnLinkAck(Chunk(1), At(0));
  EXPECT_EQ(tracker_.TakeOverdue(At(2)).size(), 1u);
  Add(Chunk(2));
  tracker_.OnLinkAck(Chunk(2), At(2));
  EXPECT_EQ(tracker_.NextDeadline(), At(6));
  tracker_.OnDeliveryAck(kParent, Id(1), At(2));
  tracker_.OnDeliveryAck(kParent, Id(2), At(2));
  Add(Chunk(3));
  tracker_.OnLinkAck(Chunk(3), At(10));
  EXPECT_EQ(tracker_.NextDeadline(), At(12));
}

TEST_F(DeliveryTrackerTest, TheSlowestAcksDoNotMakeAnyChunkWaitForMinutes) {
  Add(Chunk(1));
  Add(Chunk(2));
  tracker_.OnLinkAck(Chunk(1), At(0));
  tracker_.OnDeliveryAck(kParent, Id(1), At(1000));
  tracker_.OnLinkAck(Chunk(2), At(1000));
  EXPECT_EQ(tracker_.NextDeadline(), At(1000) + DeliveryTracker::kLongestWait);
}

TEST_F(DeliveryTrackerTest, ARelayedChunkMayTakeLonger) {
  AddFar(1);
  tracker_.OnLinkAck(Chunk(1, {NodeId(1), kParent, kFar}), At(0));
  EXPECT_EQ(tracker_.NextDeadline(), At(16));
}

TEST_F(DeliveryTrackerTest, ARefusedChunkWaitsForItsGrant) {
  Add(Chunk(1));
  Add(Chunk(2));
  for (uint32_t chunk : {1, 2}) tracker_.OnLinkAck(Chunk(chunk), At(0));
  tracker_.OnBusy(kParent, Id(1), At(1));
  EXPECT_TRUE(tracker_.OnGrant(kFar).empty());
  const std::vector<DeliveryTracker::Undelivered> granted = tracker_.OnGrant(kParent);
  ASSERT_EQ(granted.size(), 1u);
  EXPECT_EQ(granted[0].message.id, Id(1));
  EXPECT_EQ(PayloadBytes(granted[0].payload), 40);
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
}

TEST_F(DeliveryTrackerTest, AGrantMayNameWhatItIsFor) {
  for (uint32_t chunk : {1, 2, 3}) {
    Add(Chunk(chunk));
    tracker_.OnLinkAck(Chunk(chunk), At(0));
  }
  for (uint32_t chunk : {1, 2}) tracker_.OnBusy(kParent, Id(chunk), At(1));
  EXPECT_TRUE(tracker_.OnGrant(kFar, {Id(2)}).empty());
  const std::vector<DeliveryTracker::Undelivered> granted = tracker_.OnGrant(kParent, {Id(2), Id(3), Id(9)});
  ASSERT_EQ(granted.size(), 1u);
  EXPECT_EQ(granted[0].message.id, Id(2));
  EXPECT_EQ(tracker_.OnGrant(kParent).size(), 1u);
}

TEST_F(DeliveryTrackerTest, ARefusedChunkIsTriedAgainWithoutAGrant) {
  Add(Chunk(1));
  tracker_.OnLinkAck(Chunk(1), At(0));
  tracker_.OnBusy(kParent, Id(1), At(1));
  EXPECT_TRUE(tracker_.TakeOverdue(At(8)).empty());
  EXPECT_EQ(tracker_.TakeOverdue(At(9)).size(), 1u);
  tracker_.OnLinkAck(Chunk(1), At(9));
  tracker_.OnBusy(kParent, Id(1), At(10));
  EXPECT_TRUE(tracker_.TakeOverdue(At(25)).empty());
  EXPECT_EQ(tracker_.TakeOverdue(At(26)).size(), 1u);
}

TEST_F(DeliveryTrackerTest, ABusyRelayHoldsBackOnlyWhatGoesThroughIt) {
  AddFar(1);
  Add(Chunk(1, {NodeId(1), NodeId(4), NodeId(5)}));
  tracker_.OnLinkAck(Chunk(1, {NodeId(1), kParent, kFar}), At(0));
  tracker_.OnLinkAck(Chunk(1, {NodeId(1), NodeId(4), NodeId(5)}), At(0));
  tracker_.OnBusy(kParent, Id(1), At(1));
  EXPECT_TRUE(tracker_.OnGrant(NodeId(4)).empty());
  const std::vector<DeliveryTracker::Undelivered> granted = tracker_.OnGrant(kParent);
  ASSERT_EQ(granted.size(), 1u);
  EXPECT_EQ(granted[0].message.route.destination(), kFar);
}

TEST_F(DeliveryTrackerTest, AStrangeOrUnknownRefusalMeansNothing) {
  Add(Chunk(1));
  tracker_.OnBusy(kParent, Id(1), At(0));  // before the link ack
  tracker_.OnBusy(kParent, Id(9), At(0));
  tracker_.OnBusy(NodeId(9), Id(1), At(0));
  EXPECT_EQ(tracker_.NextDeadline(), kNever);
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
}

TEST_F(DeliveryTrackerTest, RefusalsAndGrantsInTurnQueueNothingTwice) {
  Add(Chunk(1));
  tracker_.OnLinkAck(Chunk(1), At(0));
  size_t resent = 0;
  for (int i = 0; i < 100; ++i) {
    tracker_.OnBusy(kParent, Id(1), At(1));
    resent += tracker_.OnGrant(kParent).size();
  }
  EXPECT_EQ(resent, 1u);
}

TEST_F(DeliveryTrackerTest, ARoundThatIsClosedEverywhereIsDropped) {
  Add(Chunk(1));
  Add(Chunk(2));
  tracker_.OnLinkAck(Chunk(1), At(0));
  tracker_.OnLinkAck(Chunk(2), At(0));
  tracker_.OnBusy(kParent, Id(2), At(0));
  EXPECT_TRUE(tracker_.DropRound(Id(1).key, Id(1).round.Next()).empty());
  EXPECT_EQ(tracker_.DropRound(Id(1).key, Id(1).round).size(), 2u);
  EXPECT_EQ(tracker_.kept_bytes(), 0);
  EXPECT_TRUE(tracker_.TakeOverdue(At(1000)).empty());
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
  EXPECT_FALSE(tracker_.OnDeliveryAck(kParent, Id(1), At(1001)));
}

TEST_F(DeliveryTrackerTest, ClearDropsAll) {
  Add(Chunk(1));
  tracker_.OnLinkAck(Chunk(1), At(0));
  tracker_.OnBusy(kParent, Id(1), At(0));
  tracker_.Clear();
  EXPECT_EQ(tracker_.kept_bytes(), 0);
  EXPECT_TRUE(tracker_.TakeOverdue(At(1000)).empty());
  EXPECT_TRUE(tracker_.OnGrant(kParent).empty());
}

}  // namespace
}  // namespace banyan
