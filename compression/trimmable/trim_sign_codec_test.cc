#include <cmath>
#include <vector>

#include "compression/encoded_chunk.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "compression/trimmable/trim_codecs.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

std::vector<float> HeadsAlone(const std::vector<float>& values) {
  return RoundTrip(TrimSignCodec(), values, {.codec = CodecId::kTrimSign, .levels = 1});
}

TEST(TrimSignCodecTest, TakesAScalePerRangeAndThirtyTwoBitsPerElement) {
  EXPECT_EQ(EncodedBytes(TrimSignCodec(), std::vector<float>(65536)), 16 * 4 + 65536 * 4);
}

TEST(TrimSignCodecTest, IsExactWithBothLevels) {
  const std::vector<float> values = LaplaceSamples(10'001, 1);
  EXPECT_EQ(RoundTrip(TrimSignCodec(), values), values);
}

TEST(TrimSignCodecTest, ErrorOfHeadsIsThatOfTheory) {
  const std::vector<float> gaussian = GaussianSamples(1 << 18, 2);
  const std::vector<float> laplace = LaplaceSamples(1 << 18, 3);
  EXPECT_NEAR(NormalizedError(gaussian, HeadsAlone(gaussian)), 2 - 2 * std::sqrt(2 / M_PI), 0.01);
  EXPECT_NEAR(NormalizedError(laplace, HeadsAlone(laplace)), 2 - std::sqrt(2), 0.01);
}

TEST(TrimSignCodecTest, HeadsSayOneMagnitude) {
  EXPECT_EQ(HeadsAlone({3, -4, 0, 0}), (std::vector<float>{2.5f, -2.5f, 2.5f, 2.5f}));
}

}  // namespace
}  // namespace banyan
