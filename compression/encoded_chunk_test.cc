#include "compression/encoded_chunk.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two fp32 frames: elements [first, first + values.size()) each.
EncodedChunk TwoFrames(int64_t first0, std::vector<float> values0, int64_t first1, std::vector<float> values1) {
  EncodedChunk chunk = EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf(values0), 1).encoded();
  const EncodedChunk second = EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf(values1), 1).encoded();
  chunk.frames.push_back(second.frames[0]);
  chunk.payload.push_back(second.payload[0]);
  chunk.frames[0].first_element = first0;
  chunk.frames[1].first_element = first1;
  return chunk;
}

TEST(EncodedChunkTest, DecodesWhatWasEncoded) {
  const CheckedChunk chunk = EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf({1.0f, 2.0f}), 3);
  EXPECT_EQ(chunk.weight(), 3u);
  EXPECT_EQ(chunk.elements(), 2);
  EXPECT_EQ(chunk.payload_bytes(), 8);
  EXPECT_FALSE(chunk.empty());
  ASSERT_TRUE(CheckChunk(chunk.encoded(), 2).ok());
  std::vector<float> values = {9, 9};
  DecodeChunk(chunk, absl::MakeSpan(values));
  EXPECT_THAT(values, ElementsAre(1, 2));
  DecodeAddChunk(chunk, absl::MakeSpan(values));
  EXPECT_THAT(values, ElementsAre(2, 4));
}

TEST(EncodedChunkTest, TheEmptyChunkIsZero) {
  const absl::StatusOr<CheckedChunk> checked = CheckChunk(EncodedChunk(), 2);
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked->elements(), 2);
  for (const CheckedChunk& chunk : {CheckedChunk(), *checked}) {
    EXPECT_TRUE(chunk.empty());
    std::vector<float> values = {9, 9};
    DecodeAddChunk(chunk, absl::MakeSpan(values));
    EXPECT_THAT(values, ElementsAre(9, 9));
    DecodeChunk(chunk, absl::MakeSpan(values));
    EXPECT_THAT(values, ElementsAre(0, 0));
  }
}

TEST(EncodedChunkTest, GapsBetweenFramesAreZero) {
  std::vector<float> values(6, 9.0f);
  const CheckedChunk chunk = *CheckChunk(TwoFrames(1, {1, 2}, 4, {10}), 6);
  DecodeChunk(chunk, absl::MakeSpan(values));
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 0, 10, 0));
  DecodeAddChunk(chunk, absl::MakeSpan(values));
  EXPECT_THAT(values, ElementsAre(0, 2, 4, 0, 20, 0));
}

TEST(EncodedChunkTest, RefusesElementsThatComeTwice) {
  const auto refusal = [](int64_t first0, const std::vector<float>& values0, int64_t first1,
                          const std::vector<float>& values1) {
    return std::string(CheckChunk(TwoFrames(first0, values0, first1, values1), 5).status().message());
  };
  EXPECT_THAT(refusal(0, {1, 2}, 0, {1, 2}), HasSubstr("frame 1: expected elements from 2 on"));
  EXPECT_THAT(refusal(1, {1, 2}, 2, {10, 20}), HasSubstr("frame 1: expected elements from 3 on"));
  EXPECT_THAT(refusal(0, {1, 2, 3, 4, 5}, 2, {10}), HasSubstr("frame 1: expected elements from 5 on"));
  EXPECT_THAT(refusal(3, {1, 2}, 0, {10}), HasSubstr("frame 1: expected elements from 5 on"));
  EXPECT_EQ(refusal(0, {1, 2}, 2, {3, 4, 5}), "");
}

TEST(EncodedChunkDeathTest, AChunkDecodesIntoWhatItWasCheckedFor) {
  const CheckedChunk chunk = *CheckChunk(TwoFrames(0, {1, 2}, 2, {3}), 3);
  std::vector<float> shorter(2);
  EXPECT_DEATH(DecodeChunk(chunk, absl::MakeSpan(shorter)), "invariant broken");
  EXPECT_DEATH(DecodeAddChunk(chunk, absl::MakeSpan(shorter)), "invariant broken");
}

// Two ranges of 1,024 elements: heads of 132 bytes, tails of 3,968.
TEST(EncodedChunkTest, AShareOfTheBytesKeepsWholeFramesAndAllHeads) {
  const std::vector<float> values(2048, 1.0f);
  const CheckedChunk chunk =
      EncodeChunk({.codec = CodecId::kTrimSign, .range_elements = 1024}, Buffer::CopyOf(values), 1);
  ASSERT_EQ(chunk.encoded().frames.size(), 4u);
  const auto frames = [&](double share) { return CutToShare(chunk, share).encoded().frames.size(); };
  EXPECT_EQ(frames(1), 4u);
  EXPECT_EQ(frames(0.99), 3u);
  EXPECT_EQ(frames(0.52), 3u);
  EXPECT_EQ(frames(0.5), 2u);
  EXPECT_EQ(frames(0), 2u);
  EXPECT_EQ(CutToShare(chunk, 0).elements(), 2048);
  EXPECT_TRUE(CutToShare(CheckedChunk(), 0.5).empty());
}

TEST(EncodedChunkTest, RefusesWhatDoesNotFit) {
  EncodedChunk bad_second = TwoFrames(0, {1, 2}, 1, {3, 4});
  EXPECT_THAT(std::string(CheckChunk(bad_second, 2).status().message()),
              HasSubstr("frame 1: expected frames of fp32 inside"));
  EncodedChunk lying_size = TwoFrames(0, {1, 2}, 0, {3, 4});
  lying_size.frames[0].size_bytes = 7;
  EXPECT_THAT(std::string(CheckChunk(lying_size, 2).status().message()),
              HasSubstr("frame 0: expected 7 bytes as the header says, got 8"));
  EncodedChunk missing_frame = TwoFrames(0, {1, 2}, 0, {3, 4});
  missing_frame.payload.pop_back();
  EXPECT_THAT(std::string(CheckChunk(missing_frame, 2).status().message()), HasSubstr("expected 2 frames"));
  EncodedChunk unknown_codec = TwoFrames(0, {1, 2}, 0, {3, 4});
  unknown_codec.frames[0].codec = static_cast<CodecId>(200);
  EXPECT_THAT(std::string(CheckChunk(unknown_codec, 2).status().message()), HasSubstr("got number 200"));
}

}  // namespace
}  // namespace banyan
