#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(Int4CodecTest, TakesHalfAByteEachAndAScalePerBlock) {
  EXPECT_EQ(EncodedBytes(Int4Codec(), std::vector<float>(512)), 256 + 8);
  EXPECT_EQ(EncodedBytes(Int4Codec(), std::vector<float>(513)), 257 + 12);
}

TEST(Int4CodecTest, TheUnusedHalfByteIsZero) {
  std::vector<FrameHeader> headers;
  const Encoding encoding{.codec = CodecId::kInt4};
  Buffer frame = Int4Codec().Encode(Buffer::CopyOf(GaussianSamples(259, 6)), encoding, &headers)[0];
  ASSERT_TRUE(Int4Codec().Check(headers[0], frame, 259).ok());
  static_cast<uint8_t*>(frame.mutable_data())[frame.size_bytes() - 1] |= 0x10;
  EXPECT_EQ(Int4Codec().Check(headers[0], frame, 259).message(),
            "expected 0 after the last of 259 elements in int4, got 1");
}

}  // namespace
}  // namespace banyan
