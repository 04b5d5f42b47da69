// Tests in which order the LinkChunks that wait go; link_chunks_flight_test.cc has those in flight.
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/chunk_size.h"
#include "node/link/link_chunks.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kTinyBytes = 4096;
constexpr ConnectionId kConnection(20);
constexpr auto kAny = [](const ChunkInFlight&) { return true; };

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

ChunkPtr Made(ChunkMessage message, int64_t payload_bytes) {
  return std::make_shared<ChunkInFlight>(std::move(message), Payload{Buffer::Allocate(payload_bytes, DataType::kByte)});
}

uint32_t IndexOf(const ChunkInFlight& chunk) { return chunk.message.id.chunk.value(); }

class LinkQueueTest : public ::testing::Test {
 protected:
  void Enqueue(ChunkMessage message, int64_t payload_bytes = 5000) {
    chunks_.Enqueue(Made(std::move(message), payload_bytes), /*resend=*/false);
  }
  std::vector<uint32_t> TakeAll() {
    std::vector<uint32_t> indices;
    while (chunks_.has_queued()) {
      const uint32_t next = IndexOf(chunks_.Next());
      indices.push_back(IndexOf(*chunks_.TakeNext()));
      EXPECT_EQ(indices.back(), next);
    }
    return indices;
  }

  LinkChunks chunks_{{kConnection}, kTinyBytes};
};

TEST_F(LinkQueueTest, TinyThenPriorityThenPlace) {
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

TEST_F(LinkQueueTest, OfEqualPriorityTheOldestRoundThenTheLowestPlaceGoesFirst) {
  ChunkMessage next_round = Chunk(1);
  next_round.id.round = Round(2);
  Enqueue(next_round);
  Enqueue(Chunk(3));
  Enqueue(Chunk(2));
  EXPECT_THAT(TakeAll(), ElementsAre(2, 3, 1));
}

TEST_F(LinkQueueTest, OfEqualsTheFirstToComeGoesFirst) {
  for (const uint32_t index : {9, 7, 8}) {
    ChunkMessage message = Chunk(index);
    message.place = 0;
    Enqueue(message);
  }
  EXPECT_THAT(TakeAll(), ElementsAre(9, 7, 8));
}

TEST_F(LinkQueueTest, AChunkIsTinyUpToTheLimitWithItsHeader) {
  const int64_t just_tiny_bytes = kTinyBytes - WireBytes(0, 3);
  Enqueue(Chunk(1), just_tiny_bytes + 1);
  Enqueue(Chunk(2), just_tiny_bytes);
  EXPECT_THAT(TakeAll(), ElementsAre(2, 1));
}

TEST_F(LinkQueueTest, PrioritiesMayBeExtreme) {
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

TEST_F(LinkQueueTest, AResultLetsTheGradientsOfTheNextChunksGoFirst) {
  constexpr uint32_t kBefore = LinkChunks::kGradientsBeforeResult;
  ChunkMessage result = Chunk(1);
  result.id.half = Half::kBroadcast;
  Enqueue(result);
  Enqueue(Chunk(kBefore + 2));
  Enqueue(Chunk(kBefore));
  EXPECT_THAT(TakeAll(), ElementsAre(kBefore, 1, kBefore + 2));
}

TEST_F(LinkQueueTest, AResultOfTheLastPlaceIsStillTheLast) {
  ChunkMessage result = Chunk(std::numeric_limits<uint32_t>::max());
  result.id.half = Half::kBroadcast;
  Enqueue(result);
  Enqueue(Chunk(5));
  EXPECT_THAT(TakeAll(), ElementsAre(5, std::numeric_limits<uint32_t>::max()));
}

TEST_F(LinkQueueTest, ChunksOnAuxiliaryPathsWaitForOthersButNotForEver) {
  for (uint32_t index = 1; index <= 2; ++index) Enqueue(Auxiliary(100 + index));
  for (uint32_t index = 1; index <= 8; ++index) Enqueue(Chunk(index));
  EXPECT_THAT(TakeAll(), ElementsAre(1, 2, 3, 4, 5, 6, 101, 7, 8, 102));
}

TEST_F(LinkQueueTest, ChunksOnAuxiliaryPathsGetAtMostASeventh) {
  for (uint32_t index = 0; index < 70; ++index) Enqueue(Auxiliary(1000 + index), 10);
  for (uint32_t index = 0; index < 60; ++index) Enqueue(Chunk(index));
  uint32_t auxiliary = 0;
  for (int taken = 0; taken < 70; ++taken) auxiliary += chunks_.TakeNext()->message.is_auxiliary ? 1 : 0;
  EXPECT_EQ(auxiliary, 70 / (LinkChunks::kPrimaryPerAuxiliary + 1));
  // Nothing else waits any more.
  EXPECT_EQ(TakeAll().size(), 60u);
}

TEST_F(LinkQueueTest, WithoutOneOnAnAuxiliaryPathOthersGoOn) {
  for (uint32_t index = 1; index <= 9; ++index) Enqueue(Chunk(index));
  EXPECT_EQ(TakeAll().size(), 9u);
  // Its turn has come long ago.
  Enqueue(Chunk(1));
  Enqueue(Auxiliary(2));
  EXPECT_THAT(TakeAll(), ElementsAre(2, 1));
}

TEST_F(LinkQueueTest, GivesAwayTheFirstChunkThatIsWantedAndMayTakeAnAuxiliaryPath) {
  Enqueue(Relayed(1));
  Enqueue(Chunk(2));
  Enqueue(Chunk(3));
  std::vector<int64_t> sizes;
  const auto third = chunks_.TakeForAuxiliary([&](const ChunkInFlight& chunk) {
    sizes.push_back(chunk.size_bytes);
    return IndexOf(chunk) == 3;
  });
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(IndexOf(*third), 3u);
  EXPECT_THAT(sizes, ElementsAre(WireBytes(5000, 3), WireBytes(5000, 3)));
  EXPECT_EQ(IndexOf(*chunks_.TakeForAuxiliary(kAny)), 2u);
  // A relayed chunk has no other way.
  EXPECT_EQ(chunks_.TakeForAuxiliary(kAny), nullptr);
  EXPECT_EQ(chunks_.queued_bytes(), WireBytes(5000, 3));
}

TEST_F(LinkQueueTest, GivesAwayNoChunkThatIsOnAnAuxiliaryPath) {
  EXPECT_EQ(chunks_.TakeForAuxiliary(kAny), nullptr);
  Enqueue(Auxiliary(1));
  EXPECT_EQ(chunks_.TakeForAuxiliary(kAny), nullptr);
  EXPECT_THAT(TakeAll(), ElementsAre(1));
}

TEST_F(LinkQueueTest, LooksForAChunkToGiveAwayOnlyNearTheHead) {
  constexpr uint32_t kLookahead = LinkChunks::kAuxiliaryLookahead;
  for (uint32_t index = 1; index <= kLookahead + 1; ++index) Enqueue(Chunk(index));
  const auto is_behind = [](const ChunkInFlight& chunk) { return IndexOf(chunk) > kLookahead; };
  EXPECT_EQ(chunks_.TakeForAuxiliary(is_behind), nullptr);
  chunks_.TakeNext();
  EXPECT_NE(chunks_.TakeForAuxiliary(is_behind), nullptr);
}

TEST_F(LinkQueueTest, TakesAllOnAuxiliaryPathsInOrder) {
  Enqueue(Auxiliary(5));
  Enqueue(Chunk(1));
  Enqueue(Auxiliary(4), 10);
  Enqueue(Auxiliary(3));
  std::vector<uint32_t> taken;
  for (const ChunkPtr& chunk : chunks_.TakeAuxiliary()) taken.push_back(IndexOf(*chunk));
  EXPECT_THAT(taken, ElementsAre(4, 3, 5));
  EXPECT_THAT(chunks_.TakeAuxiliary(), IsEmpty());
  EXPECT_THAT(TakeAll(), ElementsAre(1));
}

TEST_F(LinkQueueTest, WhatComesBackStandsWhereItStood) {
  for (uint32_t index = 1; index <= 3; ++index) {
    ChunkMessage message = Chunk(index);
    message.place = 0;
    Enqueue(message);
  }
  for (int sent = 0; sent < 2; ++sent) chunks_.Send(chunks_.TakeNext(), kConnection, {}, Timestamp());
  ChunkMessage late = Chunk(4);
  late.place = 0;
  Enqueue(late);
  chunks_.OnConnectionDown(kConnection);
  EXPECT_THAT(TakeAll(), ElementsAre(1, 2, 3, 4));
}

TEST_F(LinkQueueTest, KeepsWhatItIsGiven) {
  const ChunkPtr given = Made(Chunk(1), 700);
  chunks_.Enqueue(given, /*resend=*/true);
  EXPECT_EQ(chunks_.TakeNext(), given);
  EXPECT_EQ(given->message, Chunk(1));
  EXPECT_EQ(PayloadBytes(given->payload), 700);
  EXPECT_EQ(given->size_bytes, WireBytes(700, 3));
  EXPECT_TRUE(given->resend);
}

TEST_F(LinkQueueTest, WhatWasCutGoesWholeWhenItComesAgain) {
  ChunkMessage message = Chunk(1);
  message.frames = {{.elements = 1, .size_bytes = 100}, {.elements = 1, .size_bytes = 5000, .level = 1}};
  const ChunkPtr chunk = Made(message, 0);
  chunk->payload = {Buffer::Allocate(100, DataType::kByte), Buffer::Allocate(5000, DataType::kByte)};
  chunks_.Enqueue(chunk, /*resend=*/false);
  chunks_.TakeNext();
  chunk->frames = 1;
  EXPECT_EQ(chunk->FrameBytes(), 100);
  ChunkMessage header;
  EXPECT_EQ(PayloadBytes(chunk->CopyTo(header)), 100);
  EXPECT_EQ(header.frames.size(), 1u);
  EXPECT_EQ(header.cut_frames, 1u);
  chunks_.Enqueue(chunk, /*resend=*/true);
  EXPECT_EQ(chunk->size_bytes, WireBytes(5100, 3));
  EXPECT_EQ(chunk->FrameBytes(), 5100);
  EXPECT_EQ(PayloadBytes(chunk->CopyTo(header)), 5100);
  EXPECT_EQ(header, message);
}

TEST_F(LinkQueueTest, CountsBytesHoweverAChunkLeaves) {
  Enqueue(Chunk(1), 100);
  Enqueue(Relayed(2), 200);
  Enqueue(Auxiliary(3), 300);
  EXPECT_EQ(chunks_.queued_bytes(), 600 + 3 * WireBytes(0, 3));
  EXPECT_EQ(chunks_.relayed_bytes(), WireBytes(200, 3));
  EXPECT_NE(chunks_.TakeForAuxiliary(kAny), nullptr);
  EXPECT_EQ(chunks_.queued_bytes(), 500 + 2 * WireBytes(0, 3));
  ChunkPtr relayed = chunks_.TakeNext();
  EXPECT_EQ(chunks_.relayed_bytes(), 0);
  EXPECT_EQ(chunks_.TakeAuxiliary().size(), 1u);
  EXPECT_EQ(chunks_.queued_bytes(), 0);
  chunks_.Send(std::move(relayed), kConnection, {}, Timestamp());
  chunks_.OnConnectionDown(kConnection);
  EXPECT_EQ(chunks_.queued_bytes(), WireBytes(200, 3));
  EXPECT_EQ(chunks_.relayed_bytes(), WireBytes(200, 3));
  chunks_.Clear();
  EXPECT_EQ(chunks_.queued_bytes() + chunks_.relayed_bytes(), 0);
  EXPECT_FALSE(chunks_.has_queued());
}

TEST_F(LinkQueueTest, TellsTheRoundAtItsHead) {
  EXPECT_FALSE(chunks_.head_round().has_value());
  ChunkMessage urgent = Chunk(1);
  urgent.id.round = Round(9);
  urgent.priority = 1;
  ChunkMessage older = Chunk(2);
  older.id.round = Round(8);
  Enqueue(older);
  EXPECT_EQ(chunks_.head_round(), Round(8));
  Enqueue(urgent);
  EXPECT_EQ(chunks_.head_round(), Round(9));
}

}  // namespace
}  // namespace banyan
