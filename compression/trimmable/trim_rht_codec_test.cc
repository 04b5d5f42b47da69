#include <cmath>
#include <vector>

#include "compression/encoded_chunk.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "compression/trimmable/trim_codecs.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

std::vector<float> HeadsAlone(const std::vector<float>& values, uint64_t seed = 1) {
  return RoundTrip(TrimRhtCodec(), values, {.codec = CodecId::kTrimRht, .seed = seed, .levels = 1});
}

TEST(TrimRhtCodecTest, TakesSeedScaleAndThirtyTwoBits) {
  EXPECT_EQ(EncodedBytes(TrimRhtCodec(), std::vector<float>(65536)), 16 * 12 + 65536 * 4);
}

TEST(TrimRhtCodecTest, IsExactUpToTheTransformsRoundingWithBothLevels) {
  for (const int64_t length : {1, 3, 1000, 4097, 65536}) {
    const std::vector<float> values = LaplaceSamples(length, 1);
    EXPECT_LT(NormalizedError(values, RoundTrip(TrimRhtCodec(), values)), 1e-12) << length;
  }
}

TEST(TrimRhtCodecTest, ErrorOfHeadsIsThatOfTheoryWhateverTheDistribution) {
  const std::vector<float> gaussian = GaussianSamples(1 << 18, 2);
  const std::vector<float> laplace = LaplaceSamples(1 << 18, 3);
  EXPECT_NEAR(NormalizedError(gaussian, HeadsAlone(gaussian)), M_PI / 2 - 1, 0.01);
  EXPECT_NEAR(NormalizedError(laplace, HeadsAlone(laplace)), M_PI / 2 - 1, 0.01);
}

TEST(TrimRhtCodecTest, HeadsAreUnbiased) {
  constexpr int kSeeds = 2000;
  const std::vector<float> values = LaplaceSamples(4096, 4);
  std::vector<double> sums(values.size());
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<float> decoded = HeadsAlone(values, static_cast<uint64_t>(seed));
    for (size_t i = 0; i < values.size(); ++i) sums[i] += decoded[i];
  }
  std::vector<float> means(values.size());
  for (size_t i = 0; i < values.size(); ++i) means[i] = static_cast<float>(sums[i] / kSeeds);
  // Independent errors leave 0.571 / seeds; a bias of 1 % of the norm would add 0.0001.
  EXPECT_NEAR(NormalizedError(values, means), (M_PI / 2 - 1) / kSeeds, 0.0001);
}

TEST(TrimRhtCodecTest, ARangeThatIsNotFiniteIsSeenAndOthersStay) {
  std::vector<float> values = GaussianSamples(3 * 4096, 5);
  values[5000] = INFINITY;
  for (const std::vector<float>& decoded : {RoundTrip(TrimRhtCodec(), values), HeadsAlone(values)}) {
    for (int64_t i = 0; i < 3 * 4096; ++i) ASSERT_EQ(std::isnan(decoded[i]), i / 4096 == 1) << i;
  }
}

}  // namespace
}  // namespace banyan
