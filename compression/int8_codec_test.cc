#include "compression/int8_codec.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compression/testing_round_trip.h"
#include "compression/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kBlock = 256;
constexpr int kLevels = 127;

float LargestOfBlock(const std::vector<float>& values, int64_t block) {
  float largest = 0;
  const int64_t end = std::min<int64_t>(values.size(), (block + 1) * kBlock);
  for (int64_t i = block * kBlock; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
  return largest;
}

// Between two levels at the distance f from the lower one the variance is f (1 - f) squared steps.
double ExpectedError(const std::vector<float>& values) {
  double variance = 0, norm = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double step = LargestOfBlock(values, i / kBlock) / static_cast<double>(kLevels);
    const double fraction = values[i] / step - std::floor(values[i] / step);
    variance += fraction * (1 - fraction) * step * step;
    norm += static_cast<double>(values[i]) * values[i];
  }
  return variance / norm;
}

TEST(Int8CodecTest, TakesALevelPerElementAndAScalePerBlock) {
  EXPECT_EQ(EncodedBytes(Int8Codec(), std::vector<float>(512)), 512 + 8);
  EXPECT_EQ(EncodedBytes(Int8Codec(), std::vector<float>(513)), 513 + 12);
}

TEST(Int8CodecTest, ErrorIsThatOfTheory) {
  const std::vector<float> gaussian = GaussianSamples(1 << 18, 1);
  const std::vector<float> laplace = LaplaceSamples(1 << 18, 2);
  const double gaussian_error = NormalizedError(gaussian, RoundTrip(Int8Codec(), gaussian));
  const double laplace_error = NormalizedError(laplace, RoundTrip(Int8Codec(), laplace));
  EXPECT_NEAR(gaussian_error / ExpectedError(gaussian), 1, 0.03);
  EXPECT_NEAR(laplace_error / ExpectedError(laplace), 1, 0.03);
  // As the header says.
  EXPECT_NEAR(gaussian_error, 9.7e-5, 1e-6);
  EXPECT_NEAR(laplace_error, 2.0e-4, 6e-6);
}

TEST(Int8CodecTest, NoElementIsOffByMoreThanAStep) {
  const std::vector<float> values = LaplaceSamples(10'000, 3);
  const std::vector<float> decoded = RoundTrip(Int8Codec(), values);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_LE(std::abs(decoded[i] - values[i]), 1.001 * LargestOfBlock(values, i / kBlock) / kLevels);
  }
}

TEST(Int8CodecTest, IsUnbiased) {
  constexpr int kSeeds = 2000;
  const std::vector<float> values = GaussianSamples(600, 4);
  const std::vector<double> means = MeanRoundTrip(Int8Codec(), values, kSeeds);
  double bias = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double step = LargestOfBlock(values, i / kBlock) / static_cast<double>(kLevels);
    // Five standard deviations of the mean, of which half a step is the largest.
    ASSERT_NEAR(means[i], values[i], 5 * 0.5 * step / std::sqrt(kSeeds));
    bias += (means[i] - values[i]) / step / static_cast<double>(values.size());
  }
  EXPECT_NEAR(bias, 0, 5 * 0.5 / std::sqrt(600.0 * kSeeds));
}

TEST(Int8CodecTest, ABlockThatIsNotFiniteIsSeenAndOthersStay) {
  std::vector<float> values = GaussianSamples(600, 5);
  values[300] = INFINITY;
  const std::vector<float> decoded = RoundTrip(Int8Codec(), values);
  for (int64_t i = 0; i < 600; ++i) EXPECT_EQ(std::isnan(decoded[i]), i / kBlock == 1) << i;
}

TEST(Int8CodecTest, BadScalesAreRefused) {
  std::vector<FrameHeader> headers;
  const Encoding encoding{.codec = CodecId::kInt8};
  Buffer frame = Int8Codec().Encode(Buffer::CopyOf({1.0f, 2.0f}), encoding, &headers)[0];
  static_cast<uint8_t*>(frame.mutable_data())[3] |= 0x80;
  EXPECT_FALSE(Int8Codec().Check(headers[0], frame, 2).ok());
}

}  // namespace
}  // namespace banyan
