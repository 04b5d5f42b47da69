#include "compression/codecs/frame_check.h"

#include <limits>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

FrameHeader Range(int64_t first_element, int64_t elements) {
  return {.codec = CodecId::kInt8, .first_element = first_element, .elements = elements};
}

TEST(FrameCheckTest, RangesInsideTheChunkPass) {
  EXPECT_TRUE(CheckFrameRange("int8", Range(0, 4), 4).ok());
  EXPECT_TRUE(CheckFrameRange("int8", Range(3, 1), 4).ok());
  EXPECT_TRUE(CheckFrameRange("int8", Range(4, 0), 4).ok());
}

TEST(FrameCheckTest, RangesOutsideTheChunkAreNamed) {
  EXPECT_EQ(CheckFrameRange("int8", Range(2, 3), 4).message(),
            "expected frames of int8 inside a chunk of 4 elements, got 3 elements from 2");
  EXPECT_FALSE(CheckFrameRange("int8", Range(-1, 1), 4).ok());
  EXPECT_FALSE(CheckFrameRange("int8", Range(0, -1), 4).ok());
  EXPECT_FALSE(CheckFrameRange("int8", Range(kMax, kMax), 4).ok());
  EXPECT_FALSE(CheckFrameRange("int8", Range(1, kMax), 4).ok());
}

TEST(FrameCheckTest, OtherSizesAreNamed) {
  const Buffer frame = Buffer::Allocate(11, DataType::kByte);
  EXPECT_TRUE(CheckFrameBytes("int8", Range(0, 4), frame, 11).ok());
  EXPECT_EQ(CheckFrameBytes("int8", Range(0, 4), frame, 12).message(),
            "expected 12 bytes for 4 elements in int8, got 11");
}

}  // namespace
}  // namespace banyan
