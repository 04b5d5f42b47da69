// What proto/compression/codec_traits.h says of the codecs, held to what they do.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compression/codec.h"
#include "compression/codec_registry.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

// Rows of this length are what the randomized transform is unbiased on.
constexpr int64_t kElements = 32768;
constexpr double kRatio = 0.1;

class CodecTraitsConformanceTest : public testing::TestWithParam<CodecId> {
 protected:
  const Codec& codec() const { return *CodecFor(GetParam()); }
  const CodecTraits& traits() const { return *TraitsOf(GetParam()); }

  std::vector<float> Decoded(const std::vector<float>& values, uint64_t seed) const {
    return RoundTrip(codec(), values, {.codec = GetParam(), .ratio = kRatio, .seed = seed});
  }
};

TEST_P(CodecTraitsConformanceTest, TrimmableCodecsWriteLevels) {
  EXPECT_EQ(codec().levels() > 1, traits().is_trimmable);
}

TEST_P(CodecTraitsConformanceTest, SparseCodecsSendAShare) {
  const std::vector<float> decoded = Decoded(GaussianSamples(kElements, 1), 1);
  int64_t sent = 0;
  for (float value : decoded) sent += value != 0 ? 1 : 0;
  if (traits().is_sparse) {
    EXPECT_NEAR(static_cast<double>(sent), kRatio * kElements, 0.02 * kElements);
  } else if (GetParam() != CodecId::kTernary && GetParam() != CodecId::kInt4) {  // these round to zero
    EXPECT_GT(sent, 0.98 * kElements);
  }
}

// The error of the mean over many seeds is what no number of rounds takes away.
TEST_P(CodecTraitsConformanceTest, BiasedCodecsHaveAnErrorThatStays) {
  constexpr int kSeeds = 60;
  const std::vector<float> values = GaussianSamples(kElements, 2);
  std::vector<double> sums(kElements, 0.0);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<float> decoded = Decoded(values, seed);
    for (int64_t i = 0; i < kElements; ++i) sums[i] += decoded[i];
  }
  std::vector<float> mean(kElements);
  for (int64_t i = 0; i < kElements; ++i) mean[i] = static_cast<float>(sums[i] / kSeeds);
  const double error = NormalizedError(values, mean);
  if (traits().is_biased) {
    EXPECT_GT(error, 0.3);
  } else {
    EXPECT_LT(error, 0.05);
  }
}

double Energy(const std::vector<float>& values) {
  double energy = 0;
  for (float value : values) energy += static_cast<double>(value) * value;
  return energy;
}

// Whatever a codec drops, error feedback can be asked of it: what it keeps does not grow without end, although that of
// the ternary codec is many times a gradient.
TEST_P(CodecTraitsConformanceTest, ErrorFeedbackSettles) {
  std::vector<float> residual(kElements, 0.0f);
  double halfway = 0;
  for (uint64_t round = 1; round <= 200; ++round) {
    std::vector<float> values = GaussianSamples(kElements, round);
    for (int64_t i = 0; i < kElements; ++i) values[i] += residual[i];
    const std::vector<float> decoded = Decoded(values, round);
    for (int64_t i = 0; i < kElements; ++i) residual[i] = values[i] - decoded[i];
    if (round == 100) halfway = Energy(residual);
  }
  EXPECT_LE(Energy(residual), 1.2 * halfway);
  EXPECT_LT(Energy(residual), 60.0 * kElements);
  if (traits().is_biased) {
    EXPECT_LT(Energy(residual), 15.0 * kElements);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CodecTraitsConformanceTest, testing::ValuesIn(AllCodecIds()),
                         [](const auto& info) { return std::string(CodecName(info.param)); });

TEST(CodecTraitsTest, EveryCodecHasTraits) { EXPECT_EQ(AllCodecIds(), KnownCodecs()); }

}  // namespace
}  // namespace banyan
