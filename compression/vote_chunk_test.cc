#include "compression/vote_chunk.h"

#include <vector>

#include "absl/types/span.h"
#include "compression/codec_registry.h"
#include "compression/counts/vote_count.h"
#include "core/buffer.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr VoteRules kTernary = {.family = LowBitFamily::kTernary};

CheckedChunk Vote(const std::vector<float>& values, const VoteRules& rules = {}) {
  return EncodeVotes(VoteCount::OfVoter(values, SliceScale(values), rules));
}

std::vector<float> Decoded(const CheckedChunk& chunk) {
  std::vector<float> values(chunk.elements(), 7);
  DecodeChunk(chunk, absl::MakeSpan(values));
  return values;
}

TEST(VoteChunkTest, CountsAddAndTheMajorityDecides) {
  const CheckedChunk sum = SumOfVotes({Vote({1, 1, -1}), Vote({3, -3, -3}), Vote({2, -2, 2})});
  EXPECT_EQ(sum.weight(), 3u);
  EXPECT_TRUE(IsOfVotes(sum.encoded().frames, false));
  const CheckedChunk result = DecideVotes(sum, VoteRules());
  EXPECT_TRUE(IsOfVotes(result.encoded().frames, true));
  EXPECT_EQ(result.weight(), 3u);
  EXPECT_THAT(Decoded(result), ElementsAre(2, -2, -2));
}

TEST(VoteChunkTest, CountsDecodeIntoTheSumThatTheyStandFor) {
  EXPECT_THAT(Decoded(SumOfVotes({Vote({1, 1, -1}), Vote({3, -3, -3})})), ElementsAre(4, 0, -4));
  EXPECT_THAT(Decoded(SumOfVotes({Vote({4, 0, -2}, kTernary), Vote({2, 2, 2}, kTernary)})), ElementsAre(4, 2, 0));
}

TEST(VoteChunkTest, SumsHaveTheSameBytesInAnyOrder) {
  Random random(5);
  std::vector<CheckedChunk> votes;
  for (int voter = 0; voter < 20; ++voter) {
    std::vector<float> values(300);
    for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
    votes.push_back(Vote(values, kTernary));
  }
  const CheckedChunk forwards = SumOfVotes(votes);
  const std::vector<CheckedChunk> backwards(votes.rbegin(), votes.rend());
  const CheckedChunk halves =
      SumOfVotes({SumOfVotes(absl::MakeConstSpan(votes).subspan(7)), SumOfVotes(absl::MakeConstSpan(votes).first(7))});
  EXPECT_EQ(SumOfVotes(backwards).encoded().payload[0].bytes(), forwards.encoded().payload[0].bytes());
  EXPECT_EQ(halves.encoded().payload[0].bytes(), forwards.encoded().payload[0].bytes());
}

TEST(VoteChunkTest, WhatAPeerSaysOfItsVotesMustAgree) {
  EXPECT_EQ(FaultOfVotes(Vote({1, -1}), VoteRules()), "");
  EXPECT_THAT(FaultOfVotes(Vote({1, -1}), kTernary), HasSubstr("counts without zero votes came"));
  EncodedChunk heavier = Vote({1, -1}).encoded();
  heavier.weight = 2;
  EXPECT_THAT(FaultOfVotes(*CheckChunk(heavier, 2), VoteRules()), HasSubstr("counts of 1 votes came with weight 2"));
}

TEST(VoteChunkTest, AResultSaysForWhatItsVotesCounted) {
  for (const VoteAggregate aggregate : {VoteAggregate::kMajority, VoteAggregate::kMean}) {
    VoteRules rules;
    rules.aggregate = aggregate;
    EXPECT_EQ(ScaleOfResult(DecideVotes(Vote({1, -2, 3}), rules)), 2);
  }
  EXPECT_EQ(ScaleOfResult(*CheckChunk(EncodedChunk(), 3)), 0) << "nobody has voted";
}

TEST(VoteChunkTest, FramesThatAreNoneAreRefused) {
  const EncodedChunk good = Vote({1, -1, 3}).encoded();
  EncodedChunk partial = good;
  partial.frames[0].elements = 2;
  EXPECT_THAT(CheckChunk(partial, 3).status().message(), HasSubstr("expected votes on all 3 elements"));
  EncodedChunk shorter = good;
  shorter.payload[0] = shorter.payload[0].Slice(0, 4);
  shorter.frames[0].size_bytes = 4;
  EXPECT_THAT(CheckChunk(shorter, 3).status().message(), HasSubstr("expected a weight"));
  EncodedChunk decision = DecideVotes(Vote({1, -1, 3}), VoteRules()).encoded();
  decision.frames[0].codec = CodecId::kVoteCount;
  EXPECT_FALSE(CheckChunk(decision, 3).ok());
}

TEST(VoteChunkTest, TheCodecsAloneVoteAsOneVoter) {
  EncodedChunk chunk;
  chunk.payload = CodecFor(CodecId::kVoteDecision)->Encode(Buffer::CopyOf({1, -3}), {}, &chunk.frames);
  chunk.weight = 1;
  EXPECT_THAT(Decoded(*CheckChunk(chunk, 2)), ElementsAre(2, -2));
  std::vector<float> values = {1, 1};
  DecodeAddChunk(*CheckChunk(chunk, 2), absl::MakeSpan(values));
  EXPECT_THAT(values, ElementsAre(3, -1));
}

}  // namespace
}  // namespace banyan
