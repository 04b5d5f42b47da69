#include <vector>

#include "compression/encoded_chunk.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "compression/trimmable/trim_codecs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

std::vector<float> Tiers(const std::vector<float>& values, int levels, double ratio) {
  return RoundTrip(TrimTopKCodec(), values, {.codec = CodecId::kTrimTopK, .ratio = ratio, .levels = levels});
}

TEST(TrimTopKCodecTest, TheLargestComeFirst) {
  const std::vector<float> values = {1, -8, 2, 7, -3, 6, 4, -5};
  EXPECT_THAT(Tiers(values, 1, 0.5), ElementsAre(0, -8, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Tiers(values, 2, 0.5), ElementsAre(0, -8, 0, 7, 0, 0, 0, 0));
  EXPECT_THAT(Tiers(values, 4, 0.5), ElementsAre(0, -8, 0, 7, 0, 6, 0, -5));
  EXPECT_EQ(Tiers(values, 4, 1), values);
}

TEST(TrimTopKCodecTest, FewElementsLieInTheFirstTiers) {
  EXPECT_THAT(Tiers({0, 3, 0, 0}, 1, 0.25), ElementsAre(0, 3, 0, 0));
  EXPECT_THAT(Tiers({0, 3, 1, 0}, 1, 0.5), ElementsAre(0, 3, 0, 0));
  EXPECT_THAT(Tiers({0, 3, 1, 0}, 3, 0.5), ElementsAre(0, 3, 1, 0));
}

// All tiers together keep what topk does.
TEST(TrimTopKCodecTest, KeepsWhatTopKKeeps) {
  const std::vector<float> values = LaplaceSamples(50'000, 1);
  const std::vector<float> decoded = Tiers(values, 4, 0.1);
  EXPECT_NEAR(NormalizedError(values, decoded), 0.405, 0.01);
  EXPECT_LT(NormalizedError(values, Tiers(values, 3, 0.1)), 0.55);
  EXPECT_LT(NormalizedError(values, Tiers(values, 1, 0.1)), 0.80);
}

}  // namespace
}  // namespace banyan
