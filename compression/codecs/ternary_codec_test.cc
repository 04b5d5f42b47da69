#include <algorithm>
#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kBlock = 320;

float LargestOfBlock(const std::vector<float>& values, int64_t block) {
  float largest = 0;
  const int64_t end = std::min<int64_t>(values.size(), (block + 1) * kBlock);
  for (int64_t i = block * kBlock; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
  return largest;
}

double ExpectedError(const std::vector<float>& values) {
  double variance = 0, norm = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double magnitude = std::abs(values[i]);
    variance += magnitude * (LargestOfBlock(values, i / kBlock) - magnitude);
    norm += magnitude * magnitude;
  }
  return variance / norm;
}

TEST(TernaryCodecTest, TakesAByteForFiveAndAScalePerBlock) {
  EXPECT_EQ(EncodedBytes(TernaryCodec(), std::vector<float>(640)), 128 + 8);
  EXPECT_EQ(EncodedBytes(TernaryCodec(), std::vector<float>(641)), 129 + 12);
}

TEST(TernaryCodecTest, ErrorIsThatOfTheory) {
  const std::vector<float> gaussian = GaussianSamples(1 << 16, 1);
  const std::vector<float> laplace = LaplaceSamples(1 << 16, 2);
  const double gaussian_error = NormalizedError(gaussian, RoundTrip(TernaryCodec(), gaussian));
  const double laplace_error = NormalizedError(laplace, RoundTrip(TernaryCodec(), laplace));
  EXPECT_NEAR(gaussian_error / ExpectedError(gaussian), 1, 0.03);
  EXPECT_NEAR(laplace_error / ExpectedError(laplace), 1, 0.03);
  // As the header says.
  EXPECT_NEAR(gaussian_error, 1.48, 0.03);
  EXPECT_NEAR(laplace_error, 2.17, 0.1);
}

TEST(TernaryCodecTest, EveryElementIsOneOfThree) {
  const std::vector<float> values = LaplaceSamples(1000, 3);
  const std::vector<float> decoded = RoundTrip(TernaryCodec(), values);
  for (size_t i = 0; i < values.size(); ++i) {
    const float largest = LargestOfBlock(values, i / kBlock);
    ASSERT_TRUE(decoded[i] == 0 || decoded[i] == std::copysign(largest, values[i]));
  }
}

TEST(TernaryCodecTest, IsUnbiased) {
  constexpr int kSeeds = 2000;
  const std::vector<float> values = GaussianSamples(400, 4);
  const std::vector<double> means = MeanRoundTrip(TernaryCodec(), values, kSeeds);
  double bias = 0, variances = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double magnitude = std::abs(values[i]);
    const double variance = magnitude * (LargestOfBlock(values, i / kBlock) - magnitude) / kSeeds;
    ASSERT_NEAR(means[i], values[i], 5 * std::sqrt(variance) + 1e-6);
    bias += means[i] - values[i];
    variances += variance;
  }
  EXPECT_NEAR(bias, 0, 5 * std::sqrt(variances));
}

TEST(TernaryCodecTest, ABlockThatIsNotFiniteIsSeenAndOthersStay) {
  std::vector<float> values = GaussianSamples(700, 5);
  values[400] = -INFINITY;
  const std::vector<float> decoded = RoundTrip(TernaryCodec(), values);
  for (int64_t i = 0; i < 700; ++i) EXPECT_EQ(std::isnan(decoded[i]), i / kBlock == 1) << i;
}

TEST(TernaryCodecTest, SpoiltFramesAreRefused) {
  std::vector<FrameHeader> headers;
  const Encoding encoding{.codec = CodecId::kTernary};
  Buffer frame = TernaryCodec().Encode(Buffer::CopyOf(GaussianSamples(325, 6)), encoding, &headers)[0];
  ASSERT_TRUE(TernaryCodec().Check(headers[0], frame, 325).ok());
  uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data());
  const uint8_t before = bytes[20];
  bytes[20] = 243;
  EXPECT_EQ(TernaryCodec().Check(headers[0], frame, 325).message(),
            "expected bytes up to 242 and zeros after the last of 325 elements in ternary, got others");
  bytes[20] = before;
  bytes[3] = 0xff;
  EXPECT_FALSE(TernaryCodec().Check(headers[0], frame, 325).ok());
}

}  // namespace
}  // namespace banyan
