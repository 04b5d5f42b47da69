#include "gtest/gtest.h"
#include "node/rounds/key_rounds.h"

namespace banyan {
namespace {

CheckedChunk Sum(float value) { return EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf({value}), 1); }

float ValueOf(const std::optional<CheckedChunk>& sum) {
  float value = 0;
  if (sum.has_value()) DecodeChunk(*sum, absl::MakeSpan(&value, 1));
  return value;
}

TEST(SentSumsTest, TheEpochThatMadeTheResultSaysWhichOneCounts) {
  SentSums sent;
  sent.Keep(ChunkIndex(0), Epoch(1), Sum(1));
  sent.Keep(ChunkIndex(0), Epoch(2), Sum(2));
  sent.Keep(ChunkIndex(1), Epoch(2), Sum(3));
  EXPECT_EQ(sent.size_bytes(), 12);
  EXPECT_EQ(ValueOf(sent.Take(ChunkIndex(0), Epoch(1))), 1);
  EXPECT_EQ(sent.size_bytes(), 4);
  EXPECT_FALSE(sent.Take(ChunkIndex(0), Epoch(2)).has_value());
  EXPECT_FALSE(sent.Take(ChunkIndex(1), Epoch(7)).has_value());
  EXPECT_EQ(sent.size_bytes(), 0);
}

}  // namespace
}  // namespace banyan
