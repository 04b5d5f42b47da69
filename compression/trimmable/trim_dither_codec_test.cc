#include <cmath>
#include <vector>

#include "compression/encoded_chunk.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "compression/trimmable/trim_codecs.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

std::vector<float> HeadsAlone(const Codec& codec, const std::vector<float>& values, uint64_t seed = 1) {
  return RoundTrip(codec, values, {.codec = codec.id(), .seed = seed, .levels = 1});
}

// Of the mean over many seeds, and of one of them, against what is expected of both together.
double ErrorOfTheMean(const Codec& codec, const std::vector<float>& values, int seeds) {
  std::vector<double> sums(values.size());
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<float> decoded = HeadsAlone(codec, values, static_cast<uint64_t>(seed));
    for (size_t i = 0; i < values.size(); ++i) sums[i] += decoded[i];
  }
  std::vector<float> means(values.size());
  for (size_t i = 0; i < values.size(); ++i) means[i] = static_cast<float>(sums[i] / seeds);
  return NormalizedError(values, means);
}

TEST(TrimDitherCodecTest, IsExactWithBothLevels) {
  const std::vector<float> values = LaplaceSamples(10'001, 1);
  EXPECT_EQ(RoundTrip(TrimSqCodec(), values), values);
  EXPECT_EQ(RoundTrip(TrimSdCodec(), values), values);
}

TEST(TrimDitherCodecTest, TakesSeedScaleAndThirtyThreeBits) {
  EXPECT_EQ(EncodedBytes(TrimSqCodec(), std::vector<float>(65536)), 16 * 12 + 65536 / 8 + 65536 * 4);
}

// With L of 2.5 standard deviations: L^2 - 1 and L^2 / 3, and what is cut off. Of Laplace values more is.
TEST(TrimDitherCodecTest, ErrorOfHeadsIsThatOfTheory) {
  const std::vector<float> gaussian = GaussianSamples(1 << 18, 2);
  EXPECT_NEAR(NormalizedError(gaussian, HeadsAlone(TrimSqCodec(), gaussian)), 5.25, 0.05 * 5.25);
  EXPECT_NEAR(NormalizedError(gaussian, HeadsAlone(TrimSdCodec(), gaussian)), 2.083, 0.05 * 2.083);
  // The second moment of a Laplace number that is cut at 2.5 deviations is 0.868 of the whole; the cut loses 0.0292.
  const std::vector<float> laplace = LaplaceSamples(1 << 18, 3);
  const double cut = 2.5 * std::sqrt(2.0);
  const double second = (2 - std::exp(-cut) * (2 * cut + 2)) / 2;
  const double lost = std::exp(-cut);
  EXPECT_NEAR(NormalizedError(laplace, HeadsAlone(TrimSqCodec(), laplace)), 6.25 - second + lost, 0.05 * 5.3);
  EXPECT_NEAR(NormalizedError(laplace, HeadsAlone(TrimSdCodec(), laplace)), 6.25 / 3 + lost, 0.05 * 2.1);
}

// Values within the bound: nothing is cut off.
std::vector<float> UniformSamples(int64_t count) {
  Random random(4);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

TEST(TrimDitherCodecTest, HeadsAreUnbiased) {
  constexpr int kSeeds = 3000;
  const std::vector<float> values = UniformSamples(4096);
  // Independent errors of 5.25 and 2.08 leave these in the mean; a bias of 1 % of the norm would add 0.0001.
  EXPECT_NEAR(ErrorOfTheMean(TrimSqCodec(), values, kSeeds), 5.25 / kSeeds, 0.0001);
  EXPECT_NEAR(ErrorOfTheMean(TrimSdCodec(), values, kSeeds), 2.083 / kSeeds, 0.0001);
}

// The error does not depend on the value: that is what taking the dither off again is for.
TEST(TrimDitherCodecTest, SubtractiveErrorIsUniform) {
  std::vector<float> values = UniformSamples(100'000);
  const std::vector<float> decoded = HeadsAlone(TrimSdCodec(), values);
  const double bound = 2.5 / std::sqrt(3.0);
  double small = 0, large = 0, most = 0;
  int64_t smalls = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = decoded[i] - values[i];
    most = std::max(most, std::abs(error));
    (std::abs(values[i]) < 0.5 ? small : large) += error * error;
    smalls += std::abs(values[i]) < 0.5 ? 1 : 0;
  }
  EXPECT_NEAR(most, bound, 0.02 * bound);
  EXPECT_NEAR(small / smalls, bound * bound / 3, 0.02 * bound * bound);
  EXPECT_NEAR(large / (100'000 - smalls), bound * bound / 3, 0.02 * bound * bound);
}

// The formula as printed: a dither of half the width with heads of the whole magnitude has twice the value as its mean.
TEST(TrimDitherCodecTest, ThePrintedFormulaIsBiasedByAFactorOfTwo) {
  Random random(5);
  constexpr double kBound = 2.5;
  for (const double value : {0.2, -0.7, 1.1}) {
    double printed = 0, right = 0;
    for (int i = 0; i < 200'000; ++i) {
      const double unit = 2 * random.Unit() - 1;
      const double narrow = unit * kBound / 2;
      const double wide = unit * kBound;
      printed += (value + narrow > 0 ? kBound : -kBound) - narrow;
      right += (value + wide > 0 ? kBound : -kBound) - wide;
    }
    EXPECT_NEAR(printed / 200'000, 2 * value, 0.02);
    EXPECT_NEAR(right / 200'000, value, 0.02);
  }
}

}  // namespace
}  // namespace banyan
