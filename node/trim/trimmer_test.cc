#include "node/trim/trimmer.h"

#include "core/buffer.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

ChunkMessage Message(uint64_t round, uint32_t place = 0) {
  ChunkMessage message;
  message.id.round = Round(round);
  message.place = place;
  for (int level = 0; level < 2; ++level) message.frames.push_back({.codec = CodecId::kTrimRht, .level = level});
  return message;
}

Timestamp At(double seconds) { return Timestamp::FromNanoseconds(0) + absl::Seconds(seconds); }

TEST(TrimmerTest, CutsWhatIsLate) {
  Trimmer trimmer(TrimmingConfig(), NodeId(1));
  for (uint64_t round = 1; round <= 5; ++round) {
    trimmer.OnChunk(Message(round), At(10.0 * static_cast<double>(round)));
    trimmer.OnRoundComplete(Round(round), At(10.0 * static_cast<double>(round) + 1));
  }
  trimmer.OnChunk(Message(6), At(60));
  ChunkMessage in_time = Message(6);
  Payload payload(2, Buffer::Allocate(1));
  EXPECT_FALSE(trimmer.Cut(At(60.9), 0, in_time, payload));
  EXPECT_EQ(payload.size(), 2u);
  ChunkMessage late = Message(6);
  EXPECT_TRUE(trimmer.Cut(At(62), 0, late, payload));
  EXPECT_EQ(payload.size(), 1u);
  EXPECT_EQ(late.cut_frames, 1u);
}

TEST(TrimmerTest, OfResultsItIsSaidWhatIsTooMuch) {
  for (const TrimPolicyKind kind : {TrimPolicyKind::kDeadline, TrimPolicyKind::kRandom, TrimPolicyKind::kOff}) {
    Trimmer trimmer({.policy = kind, .share = 1}, NodeId(1));
    for (uint64_t round = 1; round <= 5; ++round) {
      trimmer.OnChunk(Message(round), At(10.0 * static_cast<double>(round)));
      trimmer.OnRoundComplete(Round(round), At(10.0 * static_cast<double>(round) + 1));
    }
    ChunkMessage result = Message(6);
    result.id.half = Half::kBroadcast;
    result.frames[1].size_bytes = 310;
    trimmer.OnChunk(result, At(60));
    EXPECT_EQ(trimmer.ExcessBytes(At(60.9), 0, result), 0);
    EXPECT_EQ(trimmer.ExcessBytes(At(62), 0, result), kind == TrimPolicyKind::kDeadline ? 310 : 0);
    Payload payload(2, Buffer::Allocate(1));
    EXPECT_FALSE(trimmer.Cut(At(62), 0, result, payload)) << "it is the same for all";
  }
}

TEST(TrimmerTest, WhatFindsNoRoomIsCutUnlessItIsOff) {
  for (const TrimPolicyKind kind : {TrimPolicyKind::kDeadline, TrimPolicyKind::kOff}) {
    const Trimmer trimmer({.policy = kind}, NodeId(1));
    ChunkMessage message = Message(1);
    Payload payload(2, Buffer::Allocate(1));
    EXPECT_EQ(trimmer.CutToHeads(message, payload), kind == TrimPolicyKind::kDeadline);
    EXPECT_FALSE(trimmer.CutToHeads(message, payload) && payload.size() > 1);
  }
}

}  // namespace
}  // namespace banyan
