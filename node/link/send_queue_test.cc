#include "node/link/send_queue.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/chunk_size.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kTinyBytes = 4096;
constexpr auto kAny = [](const SendQueue::Chunk&) { return true; };

ChunkMessage Chunk(uint32_t index) {
  ChunkMessage message;
  message.id.chunk = ChunkIndex(index);
  message.place = index;
  message.route.path = {NodeId(1), NodeId(2), NodeId(3)};
  return message;
}

ChunkMessage Relayed(uint32_t index) {
  ChunkMessage message = Chunk(index);
  message.route.hop = 1;
  return message;
}

ChunkMessage Auxiliary(uint32_t index) {
  ChunkMessage message = Chunk(index);
  message.is_auxiliary = true;
  return message;
}

Payload Bytes(int64_t size) { return {Buffer::Allocate(size, DataType::kByte)}; }

uint32_t IndexOf(const SendQueue::Chunk& chunk) { return chunk.message.id.chunk.value(); }

class SendQueueTest : public ::testing::Test {
 protected:
  void Enqueue(ChunkMessage message, int64_t payload_bytes = 5000) {
    queue_.Enqueue(std::move(message), Bytes(payload_bytes), /*resend=*/false);
  }
  std::vector<uint32_t> TakeAll() {
    std::vector<uint32_t> indices;
    while (!queue_.empty()) {
      const uint32_t next = IndexOf(queue_.Next());
      indices.push_back(IndexOf(queue_.TakeNext()));
      EXPECT_EQ(indices.back(), next);
    }
    return indices;
  }

  SendQueue queue_{kTinyBytes};
};

TEST_F(SendQueueTest, TinyThenPriorityThenPlace) {
  ChunkMessage urgent = Chunk(3);
  urgent.priority = 7;
  ChunkMessage tiny = Chunk(4);
  tiny.priority = -7;
  Enqueue(Chunk(2));
  Enqueue(Chunk(1));
  Enqueue(urgent);
  Enqueue(tiny, 10);
  EXPECT_THAT(TakeAll(), ElementsAre(4, 3, 1, 2));
}

TEST_F(SendQueueTest, OfEqualPriorityTheOldestRoundThenTheLowestPlaceGoesFirst) {
  ChunkMessage next_round = Chunk(1);
  next_round.id.round = Round(2);
  Enqueue(next_round);
  Enqueue(Chunk(3));
  Enqueue(Chunk(2));
  EXPECT_THAT(TakeAll(), ElementsAre(2, 3, 1));
}

TEST_F(SendQueueTest, OfEqualsTheFirstToComeGoesFirst) {
  for (const uint32_t index : {9, 7, 8}) {
    ChunkMessage message = Chunk(index);
    message.place = 0;
    Enqueue(message);
  }
  EXPECT_THAT(TakeAll(), ElementsAre(9, 7, 8));
}

TEST_F(SendQueueTest, AChunkIsTinyUpToTheLimitWithItsHeader) {
  const int64_t just_tiny_bytes = kTinyBytes - WireBytes(0, 3);
  Enqueue(Chunk(1), just_tiny_bytes + 1);
  Enqueue(Chunk(2), just_tiny_bytes);
  EXPECT_THAT(TakeAll(), ElementsAre(2, 1));
}

TEST_F(SendQueueTest, PrioritiesMayBeExtreme) {
  for (const auto& [index, priority] : std::vector<std::pair<uint32_t, int32_t>>{
           {1, std::numeric_limits<int32_t>::min()}, {2, 0}, {3, std::numeric_limits<int32_t>::max()}}) {
    ChunkMessage message = Chunk(index);
    message.priority = priority;
    Enqueue(message);
    message.is_auxiliary = true;
    message.id.chunk = ChunkIndex(index + 10);
    Enqueue(message);
  }
  EXPECT_THAT(TakeAll(), ElementsAre(3, 2, 1, 13, 12, 11));
}

TEST_F(SendQueueTest, AResultLetsTheGradientsOfTheNextChunksGoFirst) {
  constexpr uint32_t kBefore = SendQueue::kGradientsBeforeResult;
  ChunkMessage result = Chunk(1);
  result.id.half = Half::kBroadcast;
  Enqueue(result);
  Enqueue(Chunk(kBefore + 2));
  Enqueue(Chunk(kBefore));
  EXPECT_THAT(TakeAll(), ElementsAre(kBefore, 1, kBefore + 2));
}

TEST_F(SendQueueTest, AResultOfTheLastPlaceIsStillTheLast) {
  ChunkMessage result = Chunk(std::numeric_limits<uint32_t>::max());
  result.id.half = Half::kBroadcast;
  Enqueue(result);
  Enqueue(Chunk(5));
  EXPECT_THAT(TakeAll(), ElementsAre(5, std::numeric_limits<uint32_t>::max()));
}

TEST_F(SendQueueTest, ChunksOnAuxiliaryPathsWaitForOthersButNotForEver) {
  for (uint32_t index = 1; index <= 2; ++index) Enqueue(Auxiliary(100 + index));
  for (uint32_t index = 1; index <= 8; ++index) Enqueue(Chunk(index));
  EXPECT_THAT(TakeAll(), ElementsAre(1, 2, 3, 4, 5, 6, 101, 7, 8, 102));
}

TEST_F(SendQueueTest, ChunksOnAuxiliaryPathsGetAtMostASeventh) {
  for (uint32_t index = 0; index < 70; ++index) Enqueue(Auxiliary(1000 + index), 10);
  for (uint32_t index = 0; index < 60; ++index) Enqueue(Chunk(index));
  uint32_t auxiliary = 0;
  for (int taken = 0; taken < 70; ++taken) auxiliary += queue_.TakeNext().message.is_auxiliary ? 1 : 0;
  EXPECT_EQ(auxiliary, 70 / (SendQueue::kPrimaryPerAuxiliary + 1));
  // Nothing else waits any more.
  EXPECT_EQ(TakeAll().size(), 60u);
}

TEST_F(SendQueueTest, WithoutOneOnAnAuxiliaryPathOthersGoOn) {
  for (uint32_t index = 1; index <= 9; ++index) Enqueue(Chunk(index));
  EXPECT_EQ(TakeAll().size(), 9u);
  // Its turn has come long ago.
  Enqueue(Chunk(1));
  Enqueue(Auxiliary(2));
  EXPECT_THAT(TakeAll(), ElementsAre(2, 1));
}

TEST_F(SendQueueTest, GivesAwayTheFirstChunkThatIsWantedAndMayTakeAnAuxiliaryPath) {
  Enqueue(Relayed(1));
  Enqueue(Chunk(2));
  Enqueue(Chunk(3));
  std::vector<int64_t> sizes;
  const auto third = queue_.TakeForAuxiliary([&](const SendQueue::Chunk& chunk) {
    sizes.push_back(chunk.size_bytes);
    return IndexOf(chunk) == 3;
  });
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(IndexOf(*third), 3u);
  EXPECT_THAT(sizes, ElementsAre(WireBytes(5000, 3), WireBytes(5000, 3)));
  EXPECT_EQ(IndexOf(*queue_.TakeForAuxiliary(kAny)), 2u);
  // A relayed chunk has no other way.
  EXPECT_FALSE(queue_.TakeForAuxiliary(kAny).has_value());
  EXPECT_EQ(queue_.size_bytes(), WireBytes(5000, 3));
}

TEST_F(SendQueueTest, GivesAwayNoChunkThatIsOnAnAuxiliaryPath) {
  EXPECT_FALSE(queue_.TakeForAuxiliary(kAny).has_value());
  Enqueue(Auxiliary(1));
  EXPECT_FALSE(queue_.TakeForAuxiliary(kAny).has_value());
  EXPECT_THAT(TakeAll(), ElementsAre(1));
}

TEST_F(SendQueueTest, LooksForAChunkToGiveAwayOnlyNearTheHead) {
  constexpr uint32_t kLookahead = SendQueue::kAuxiliaryLookahead;
  for (uint32_t index = 1; index <= kLookahead + 1; ++index) Enqueue(Chunk(index));
  const auto is_behind = [](const SendQueue::Chunk& chunk) { return IndexOf(chunk) > kLookahead; };
  EXPECT_FALSE(queue_.TakeForAuxiliary(is_behind).has_value());
  queue_.TakeNext();
  EXPECT_TRUE(queue_.TakeForAuxiliary(is_behind).has_value());
}

TEST_F(SendQueueTest, TakesAllOnAuxiliaryPathsInOrder) {
  Enqueue(Auxiliary(5));
  Enqueue(Chunk(1));
  Enqueue(Auxiliary(4), 10);
  Enqueue(Auxiliary(3));
  std::vector<uint32_t> taken;
  for (const SendQueue::Chunk& chunk : queue_.TakeAuxiliary()) taken.push_back(IndexOf(chunk));
  EXPECT_THAT(taken, ElementsAre(4, 3, 5));
  EXPECT_THAT(queue_.TakeAuxiliary(), IsEmpty());
  EXPECT_THAT(TakeAll(), ElementsAre(1));
}

TEST_F(SendQueueTest, WhatReturnsStandsWhereItStood) {
  for (uint32_t index = 1; index <= 3; ++index) {
    ChunkMessage message = Chunk(index);
    message.place = 0;
    Enqueue(message);
  }
  SendQueue::Chunk first = queue_.TakeNext();
  SendQueue::Chunk second = queue_.TakeNext();
  ChunkMessage late = Chunk(4);
  late.place = 0;
  Enqueue(late);
  queue_.Return(std::move(second));
  queue_.Return(std::move(first));
  EXPECT_THAT(TakeAll(), ElementsAre(1, 2, 3, 4));
}

TEST_F(SendQueueTest, KeepsWhatItIsGiven) {
  queue_.Enqueue(Chunk(1), Bytes(700), /*resend=*/true);
  const SendQueue::Chunk chunk = queue_.TakeNext();
  EXPECT_EQ(chunk.message, Chunk(1));
  EXPECT_EQ(PayloadBytes(chunk.payload), 700);
  EXPECT_EQ(chunk.size_bytes, WireBytes(700, 3));
  EXPECT_TRUE(chunk.resend);
}

TEST_F(SendQueueTest, CountsBytesHoweverAChunkLeaves) {
  Enqueue(Chunk(1), 100);
  Enqueue(Relayed(2), 200);
  Enqueue(Auxiliary(3), 300);
  EXPECT_EQ(queue_.size_bytes(), 600 + 3 * WireBytes(0, 3));
  EXPECT_EQ(queue_.relayed_bytes(), WireBytes(200, 3));
  EXPECT_TRUE(queue_.TakeForAuxiliary(kAny).has_value());
  EXPECT_EQ(queue_.size_bytes(), 500 + 2 * WireBytes(0, 3));
  SendQueue::Chunk relayed = queue_.TakeNext();
  EXPECT_EQ(queue_.relayed_bytes(), 0);
  EXPECT_EQ(queue_.TakeAuxiliary().size(), 1u);
  EXPECT_EQ(queue_.size_bytes(), 0);
  queue_.Return(std::move(relayed));
  EXPECT_EQ(queue_.size_bytes(), WireBytes(200, 3));
  EXPECT_EQ(queue_.relayed_bytes(), WireBytes(200, 3));
  queue_.Clear();
  EXPECT_EQ(queue_.size_bytes() + queue_.relayed_bytes(), 0);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(SendQueueTest, TellsTheRoundAtItsHead) {
  EXPECT_FALSE(queue_.head_round().has_value());
  ChunkMessage urgent = Chunk(1);
  urgent.id.round = Round(9);
  urgent.priority = 1;
  ChunkMessage older = Chunk(2);
  older.id.round = Round(8);
  Enqueue(older);
  EXPECT_EQ(queue_.head_round(), Round(8));
  Enqueue(urgent);
  EXPECT_EQ(queue_.head_round(), Round(9));
}

}  // namespace
}  // namespace banyan
