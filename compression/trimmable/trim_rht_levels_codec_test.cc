#include <cmath>
#include <vector>

#include "compression/encoded_chunk.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "compression/trimmable/trim_codecs.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "xxhash.h"

namespace banyan {
namespace {

constexpr int kBits[] = {1, 2, 3, 4, 8, 32};

std::vector<float> Levels(const std::vector<float>& values, int levels, uint64_t seed = 1) {
  return RoundTrip(TrimRhtLevelsCodec(), values, {.codec = CodecId::kTrimRhtLevels, .seed = seed, .levels = levels});
}

TEST(TrimRhtLevelsCodecTest, TakesThirtyTwoBitsAndScales) {
  EXPECT_EQ(EncodedBytes(TrimRhtLevelsCodec(), std::vector<float>(65536)), 16 * (20 + 4 * 4) + 65536 * 4);
  for (int level = 1; level <= 6; ++level) {
    std::vector<FrameHeader> headers;
    const Payload frames = TrimRhtLevelsCodec().Encode(Buffer::CopyOf(std::vector<float>(65536)),
                                                       {.codec = CodecId::kTrimRhtLevels, .levels = level}, &headers);
    EXPECT_NEAR(static_cast<double>(PayloadBytes(frames)) * 8 / 65536, kBits[level - 1], 0.08);
  }
}

// D / (1 - D) with the distortion D of the best quantizer of so many bits, to a tenth.
TEST(TrimRhtLevelsCodecTest, ErrorOfEachLevelIsNearTheBestOfItsBits) {
  const double best[] = {0.571, 0.133, 0.036, 0.0096};
  for (const std::vector<float>& values : {GaussianSamples(1 << 17, 2), LaplaceSamples(1 << 17, 3)}) {
    for (int levels = 1; levels <= 4; ++levels) {
      EXPECT_NEAR(NormalizedError(values, Levels(values, levels)), best[levels - 1], 0.1 * best[levels - 1]) << levels;
    }
    EXPECT_LT(NormalizedError(values, Levels(values, 5)), 1.5e-4);
    EXPECT_LT(NormalizedError(values, Levels(values, 6)), 1e-12);
  }
}

TEST(TrimRhtLevelsCodecTest, EveryLevelIsUnbiased) {
  constexpr int kSeeds = 500;
  const std::vector<float> values = LaplaceSamples(4096, 4);
  const double errors[] = {0.571, 0.137, 0.036, 0.0096, 0.0001};
  for (int levels = 1; levels <= 5; ++levels) {
    std::vector<double> sums(values.size());
    for (int seed = 1; seed <= kSeeds; ++seed) {
      const std::vector<float> decoded = Levels(values, levels, static_cast<uint64_t>(seed));
      for (size_t i = 0; i < values.size(); ++i) sums[i] += decoded[i];
    }
    std::vector<float> means(values.size());
    for (size_t i = 0; i < values.size(); ++i) means[i] = static_cast<float>(sums[i] / kSeeds);
    EXPECT_NEAR(NormalizedError(values, means), errors[levels - 1] / kSeeds, 0.0001) << levels;
  }
}

TEST(TrimRhtLevelsCodecTest, ShortAndSpikyRangesPass) {
  std::vector<float> spike(4096);
  spike[77] = -5;
  for (int levels = 1; levels <= 6; ++levels) {
    EXPECT_LT(NormalizedError(spike, Levels(spike, levels)), 1e-4) << "all coordinates have one magnitude";
    EXPECT_NEAR(Levels({-3.5f}, levels)[0], -3.5f, 1e-5);
    EXPECT_EQ(Levels({0, 0, 0}, levels), std::vector<float>(3));
  }
}

// Of uniform numbers, which are the same everywhere: so must be their encoding.
TEST(TrimRhtLevelsCodecTest, BitsStayAsTheyAre) {
  Random random(3);
  std::vector<float> values(5000);
  for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
  std::vector<FrameHeader> headers;
  const Payload frames =
      TrimRhtLevelsCodec().Encode(Buffer::CopyOf(values), {.codec = CodecId::kTrimRhtLevels, .seed = 1}, &headers);
  uint64_t hash = 0;
  for (const Buffer& frame : frames) hash = XXH3_64bits_withSeed(frame.data(), frame.size_bytes(), hash);
  EXPECT_EQ(hash, 0x5bf99912bbe4c49du);
}

TEST(TrimRhtLevelsCodecTest, SpoiltFramesAreRefused) {
  std::vector<FrameHeader> headers;
  const Encoding encoding{.codec = CodecId::kTrimRhtLevels};
  const Payload frames = TrimRhtLevelsCodec().Encode(Buffer::CopyOf({1.0f, 2.0f, 3.0f}), encoding, &headers);
  for (size_t i = 0; i < frames.size(); ++i) {
    const Codec& codec = TrimRhtLevelsCodec();
    ASSERT_TRUE(codec.Check(headers[i], frames[i], 3).ok());
    if (i == 5) continue;  // any 24 bits are good ones
    std::vector<uint8_t> negative(frames[i].bytes().begin(), frames[i].bytes().end());
    negative[(i == 0 ? 16 : 0) + 3] |= 0x80;
    EXPECT_FALSE(codec.Check(headers[i], Buffer::CopyOfBytes(negative), 3).ok()) << "a scale below 0";
    std::vector<uint8_t> padded(frames[i].bytes().begin(), frames[i].bytes().end());
    padded.back() |= 0x80;
    EXPECT_EQ(codec.Check(headers[i], Buffer::CopyOfBytes(padded), 3).ok(), i == 4) << "four codes fill two bytes";
  }
}

}  // namespace
}  // namespace banyan
