#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kCount = 1 << 20;

TEST(SignCodecTest, TakesABitPerElementAndAScalePerBlock) {
  EXPECT_EQ(EncodedBytes(SignCodec(), std::vector<float>(2048)), 256 + 8);
  EXPECT_EQ(EncodedBytes(SignCodec(), std::vector<float>(2049)), 257 + 12);
}

TEST(SignCodecTest, ErrorIsThatOfTheory) {
  const std::vector<float> gaussian = GaussianSamples(kCount, 1);
  const std::vector<float> laplace = LaplaceSamples(kCount, 2);
  EXPECT_NEAR(NormalizedError(gaussian, RoundTrip(SignCodec(), gaussian)), 1 - 2 / M_PI, 0.003);
  EXPECT_NEAR(NormalizedError(laplace, RoundTrip(SignCodec(), laplace)), 0.5, 0.003);
}

TEST(SignCodecTest, StandsForTheMeanMagnitude) {
  EXPECT_EQ(RoundTrip(SignCodec(), {1.0f, -2.0f, 6.0f}), (std::vector<float>{3.0f, -3.0f, 3.0f}));
}

TEST(SignCodecTest, TheMeanOfTheLargestValuesIsFinite) {
  EXPECT_EQ(RoundTrip(SignCodec(), std::vector<float>(1000, -3e38f)), std::vector<float>(1000, -3e38f));
}

TEST(SignCodecTest, ABlockThatIsNotFiniteIsSeenAndOthersStay) {
  for (float bad : {INFINITY, -INFINITY, std::nanf("")}) {
    std::vector<float> values = GaussianSamples(3000, 5);
    values[1500] = bad;
    const std::vector<float> decoded = RoundTrip(SignCodec(), values);
    for (int64_t i = 0; i < 3000; ++i) ASSERT_EQ(std::isnan(decoded[i]), i / 1024 == 1) << i;
  }
}

TEST(SignCodecTest, SpoiltFramesAreRefused) {
  std::vector<FrameHeader> headers;
  const Encoding encoding{.codec = CodecId::kSign};
  Buffer frame = SignCodec().Encode(Buffer::CopyOf(GaussianSamples(1027, 6)), encoding, &headers)[0];
  ASSERT_TRUE(SignCodec().Check(headers[0], frame, 1027).ok());
  uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data());
  bytes[frame.size_bytes() - 1] |= 0x08;
  EXPECT_EQ(SignCodec().Check(headers[0], frame, 1027).message(),
            "expected zero bits after the signs of 1027 elements in sign, got others");
  bytes[frame.size_bytes() - 1] &= 0x07;
  bytes[7] |= 0x80;
  EXPECT_FALSE(SignCodec().Check(headers[0], frame, 1027).ok());
}

}  // namespace
}  // namespace banyan
