#include "node/trim/chunk_cut.h"

#include <vector>

#include "core/buffer.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// Two ranges of three levels each.
ChunkMessage Message() {
  ChunkMessage message;
  for (int level = 0; level < 3; ++level) {
    for (int64_t first : {0, 10}) {
      message.frames.push_back(
          {.codec = CodecId::kTrimRht, .first_element = first, .elements = 10, .size_bytes = 4, .level = level});
    }
  }
  return message;
}

Payload Frames() { return Payload(6, Buffer::Allocate(1)); }

TEST(ChunkCutTest, HeadsLieInFront) {
  EXPECT_EQ(HeadFrames(Message()), 2u);
  EXPECT_EQ(HeadFrames(ChunkMessage()), 0u);
}

TEST(ChunkCutTest, OnlyContributionsToASumCanBeCut) {
  EXPECT_TRUE(CanBeCut(Message()));
  ChunkMessage result = Message();
  result.made_in = Epoch(1);
  ChunkMessage broadcast = Message();
  broadcast.id.half = Half::kBroadcast;
  ChunkMessage flush = Message();
  flush.kind = RoundKind::kFlush;
  ChunkMessage heads = Message();
  heads.frames.resize(2);
  for (const ChunkMessage& message : {result, broadcast, flush, heads, ChunkMessage()}) EXPECT_FALSE(CanBeCut(message));
}

TEST(ChunkCutTest, ResultsInLevelsAreToldApart) {
  ChunkMessage result = Message();
  EXPECT_FALSE(IsResultInLevels(result));
  result.id.half = Half::kBroadcast;
  EXPECT_TRUE(IsResultInLevels(result));
  ChunkMessage flush = result;
  flush.kind = RoundKind::kFlush;
  ChunkMessage heads = result;
  heads.frames.resize(2);
  for (const ChunkMessage& message : {flush, heads, ChunkMessage()}) EXPECT_FALSE(IsResultInLevels(message));
}

TEST(ChunkCutTest, WhatIsCutIsCounted) {
  ChunkMessage message = Message();
  Payload payload = Frames();
  CutTo(5, message, payload);
  EXPECT_EQ(message.frames.size(), 5u);
  EXPECT_EQ(payload.size(), 5u);
  EXPECT_EQ(message.cut_frames, 1u);
  CutTo(2, message, payload);
  EXPECT_EQ(message.cut_frames, 4u) << "by two hops";
  EXPECT_FALSE(CanBeCut(message));
}

}  // namespace
}  // namespace banyan
