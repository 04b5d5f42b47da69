#include "compression/fp32_codec.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(Fp32CodecTest, FrameSharesTheValuesMemory) {
  const Buffer values = Buffer::CopyOf({1.0f, 2.0f, 3.0f});
  std::vector<FrameHeader> headers;
  const Payload frames = Fp32Codec().Encode(values, &headers);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].data(), values.data());
  EXPECT_EQ(headers[0], (FrameHeader{CodecId::kFp32, 0, 3, 12}));
}

TEST(Fp32CodecTest, IsLossless) {
  const Buffer values = Buffer::CopyOf({-0.0f, 1e-45f, INFINITY, std::nanf("7"), 3.4e38f});
  std::vector<FrameHeader> headers;
  const Payload frames = Fp32Codec().Encode(values, &headers);
  Buffer decoded = Buffer::Allocate(5);
  Fp32Codec().Decode(headers[0], frames[0], decoded.mutable_floats());
  EXPECT_EQ(decoded.bytes(), values.bytes());
}

TEST(Fp32CodecTest, ErrorsSayWhatWasExpected) {
  const Buffer frame = Buffer::Allocate(11, DataType::kByte);
  EXPECT_EQ(Fp32Codec().Check({CodecId::kFp32, 0, 3, 11}, frame, 3).message(),
            "expected 12 bytes for an fp32 frame of 3 elements, got 11");
  EXPECT_EQ(Fp32Codec().Check({CodecId::kFp32, 2, 3, 11}, frame, 4).message(),
            "expected an fp32 frame inside a chunk of 4 elements, got 3 elements from 2");
}

}  // namespace
}  // namespace banyan
