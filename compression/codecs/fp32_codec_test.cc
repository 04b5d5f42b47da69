#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(Fp32CodecTest, FrameSharesTheValuesMemory) {
  const Buffer values = Buffer::CopyOf({1.0f, 2.0f, 3.0f});
  std::vector<FrameHeader> headers;
  const Payload frames = Fp32Codec().Encode(values, Encoding{}, &headers);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].data(), values.data());
  EXPECT_EQ(headers[0], (FrameHeader{CodecId::kFp32, 0, 3, 12}));
}

TEST(Fp32CodecTest, IsLossless) {
  const Buffer values = Buffer::CopyOf({-0.0f, 1e-45f, INFINITY, std::nanf("7"), 3.4e38f});
  std::vector<FrameHeader> headers;
  const Payload frames = Fp32Codec().Encode(values, Encoding{}, &headers);
  Buffer decoded = Buffer::Allocate(5);
  Fp32Codec().Decode(headers[0], frames[0], decoded.mutable_floats());
  EXPECT_EQ(decoded.bytes(), values.bytes());
}

}  // namespace
}  // namespace banyan
