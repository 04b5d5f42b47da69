#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kRow = 32768;

double Product(const std::vector<float>& a, const std::vector<float>& b) {
  double product = 0;
  for (size_t i = 0; i < a.size(); ++i) product += static_cast<double>(a[i]) * b[i];
  return product;
}

TEST(OneBitRhtCodecTest, TakesABitPerElementAScalePerRowAndASeed) {
  EXPECT_EQ(EncodedBytes(OneBitRhtCodec(), std::vector<float>(1)), 8 + 4 + 1);
  EXPECT_EQ(EncodedBytes(OneBitRhtCodec(), std::vector<float>(2 * kRow)), 8 + 2 * 4 + 2 * kRow / 8);
  // 32,768 + 2,048 + 1,024 and 7 in a row of 8.
  EXPECT_EQ(EncodedBytes(OneBitRhtCodec(), std::vector<float>(kRow + 3079)), 8 + 4 * 4 + (kRow + 3072) / 8 + 1);
}

TEST(OneBitRhtCodecTest, ErrorIsThatOfTheoryWhateverTheDistribution) {
  const std::vector<float> gaussian = GaussianSamples(16 * kRow, 1);
  const std::vector<float> laplace = LaplaceSamples(16 * kRow, 2);
  EXPECT_NEAR(NormalizedError(gaussian, RoundTrip(OneBitRhtCodec(), gaussian)), M_PI / 2 - 1, 0.003);
  EXPECT_NEAR(NormalizedError(laplace, RoundTrip(OneBitRhtCodec(), laplace)), M_PI / 2 - 1, 0.003);
  const std::vector<float> short_rows = LaplaceSamples(3072, 3);
  EXPECT_NEAR(NormalizedError(short_rows, RoundTrip(OneBitRhtCodec(), short_rows)), M_PI / 2 - 1, 0.03);
}

// The scale is chosen for this; it holds for every seed.
TEST(OneBitRhtCodecTest, TheProductWithTheTruthIsTheSquaredNorm) {
  for (int64_t length : {1, 2, 4, 256, 1024, 32768}) {
    const std::vector<float> values = LaplaceSamples(length, 4);
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const std::vector<float> decoded = RoundTrip(OneBitRhtCodec(), values, seed);
      EXPECT_NEAR(Product(values, decoded) / Product(values, values), 1, 1e-5) << length;
    }
  }
}

// The mean over seeds nears the truth as the mean of independent errors does.
TEST(OneBitRhtCodecTest, IsUnbiasedOnLongRows) {
  constexpr int kSeeds = 500;
  for (const std::vector<float>& values : {GaussianSamples(4096, 5), LaplaceSamples(4096, 6)}) {
    const std::vector<double> means = MeanRoundTrip(OneBitRhtCodec(), values, kSeeds);
    const std::vector<float> mean(means.begin(), means.end());
    EXPECT_NEAR(NormalizedError(values, mean) * kSeeds, M_PI / 2 - 1, 0.1);
  }
}

TEST(OneBitRhtCodecTest, TheSeedTravelsInTheFrame) {
  const std::vector<float> values = GaussianSamples(1000, 7);
  EXPECT_NE(RoundTrip(OneBitRhtCodec(), values, 1), RoundTrip(OneBitRhtCodec(), values, 2));
}

TEST(OneBitRhtCodecTest, OneElementIsExact) {
  EXPECT_EQ(RoundTrip(OneBitRhtCodec(), {-3.5f}, 8), std::vector<float>{-3.5f});
}

TEST(OneBitRhtCodecTest, ARowThatIsNotFiniteIsSeenAndOthersStay) {
  for (float bad : {INFINITY, std::nanf(""), 3e38f}) {
    std::vector<float> values = GaussianSamples(2 * kRow + 10, 8);
    std::fill(values.begin() + kRow + 5, values.begin() + kRow + 9, bad);
    const std::vector<float> decoded = RoundTrip(OneBitRhtCodec(), values);
    for (int64_t i = 0; i < 2 * kRow + 10; ++i) ASSERT_EQ(std::isnan(decoded[i]), i / kRow == 1) << i;
  }
}

TEST(OneBitRhtCodecTest, SpoiltFramesAreRefused) {
  std::vector<FrameHeader> headers;
  const Encoding encoding{.codec = CodecId::kOneBitRht};
  Buffer frame = OneBitRhtCodec().Encode(Buffer::CopyOf({1, 2, 3}), encoding, &headers)[0];
  ASSERT_TRUE(OneBitRhtCodec().Check(headers[0], frame, 3).ok());
  uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data());
  bytes[12] |= 0x10;
  EXPECT_EQ(OneBitRhtCodec().Check(headers[0], frame, 3).message(),
            "expected zero bits after the signs of 3 elements in onebit_rht, got others");
  bytes[12] &= 0x0f;
  bytes[11] |= 0x80;
  EXPECT_FALSE(OneBitRhtCodec().Check(headers[0], frame, 3).ok());
}

}  // namespace
}  // namespace banyan
