#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

Encoding RandomK(double ratio, uint64_t seed, CodecId value_codec = CodecId::kFp32) {
  return {.codec = CodecId::kRandomK, .ratio = ratio, .value_codec = value_codec, .seed = seed};
}

std::vector<uint8_t> Bytes(const std::vector<float>& values, const Encoding& encoding) {
  std::vector<FrameHeader> headers;
  const Payload frames = RandomKCodec().Encode(Buffer::CopyOf(values), encoding, &headers);
  return std::vector<uint8_t>(frames[0].bytes().begin(), frames[0].bytes().end());
}

std::string Refusal(const std::vector<uint8_t>& bytes, int64_t elements) {
  const FrameHeader header = {.codec = CodecId::kRandomK, .elements = elements, .size_bytes = std::ssize(bytes)};
  return std::string(RandomKCodec().Check(header, Buffer::CopyOfBytes(bytes), elements).message());
}

TEST(RandomKCodecTest, KeepsAsManyAsTheRatioSays) {
  const std::vector<float> values = GaussianSamples(10000, 1);
  for (double ratio : {0.0001, 0.01, 0.3, 0.77, 1.0}) {
    const std::vector<float> decoded = RoundTrip(RandomKCodec(), values, RandomK(ratio, 5));
    int kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(decoded[i] == 0 || decoded[i] == values[i]);
      kept += decoded[i] != 0;
    }
    EXPECT_EQ(kept, std::lround(ratio * 10000));
  }
}

TEST(RandomKCodecTest, IndicesNeedNoBytes) {
  const std::vector<float> values = GaussianSamples(10000, 1);
  EXPECT_EQ(Bytes(values, RandomK(0.01, 5)).size(), 13u + 400);
  EXPECT_EQ(Bytes(values, RandomK(0.01, 5, CodecId::kFp16)).size(), 13u + 200);
  EXPECT_EQ(Bytes(values, RandomK(1, 5)).size(), 13u + 40000);
}

// Whatever the values are.
TEST(RandomKCodecTest, ErrorIsTheShareThatIsLeftOut) {
  const std::vector<float> gaussian = GaussianSamples(1'000'000, 1);
  const std::vector<float> laplace = LaplaceSamples(1'000'000, 2);
  for (double ratio : {0.01, 0.1, 0.5}) {
    for (CodecId value_codec : {CodecId::kFp32, CodecId::kFp16}) {
      const Encoding encoding = RandomK(ratio, 3, value_codec);
      EXPECT_NEAR(NormalizedError(gaussian, RoundTrip(RandomKCodec(), gaussian, encoding)), 1 - ratio, 0.003);
      EXPECT_NEAR(NormalizedError(laplace, RoundTrip(RandomKCodec(), laplace, encoding)), 1 - ratio, 0.006);
    }
  }
}

// Also where the length is no multiple of what is kept.
TEST(RandomKCodecTest, EveryElementComesEquallyOften) {
  const std::vector<float> ones(103, 1.0f);
  constexpr int kSeeds = 10000;
  std::vector<int> times(ones.size(), 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::vector<float> decoded = RoundTrip(RandomKCodec(), ones, RandomK(0.6, seed));
    for (size_t i = 0; i < ones.size(); ++i) times[i] += decoded[i] != 0;
  }
  const double share = 62.0 / 103;
  for (int seen : times) EXPECT_NEAR(seen, kSeeds * share, 5 * std::sqrt(kSeeds * share * (1 - share)));
}

TEST(RandomKCodecTest, TheSeedDecides) {
  const std::vector<float> values = GaussianSamples(1000, 1);
  EXPECT_EQ(Bytes(values, RandomK(0.1, 7)), Bytes(values, RandomK(0.1, 7)));
  EXPECT_NE(RoundTrip(RandomKCodec(), values, RandomK(0.1, 7)), RoundTrip(RandomKCodec(), values, RandomK(0.1, 8)));
}

TEST(RandomKCodecTest, RefusesFieldsThatLie) {
  EXPECT_THAT(Refusal({0, 1, 0, 0, 0}, 8), HasSubstr("expected 13 bytes"));
  EXPECT_THAT(Refusal({9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 8), HasSubstr("as codec 0 or 1, got 9"));
  EXPECT_THAT(Refusal({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 8),
              HasSubstr("expected 1 to 8 values in randomk, got 0"));
  EXPECT_THAT(Refusal({1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, 1),
              HasSubstr("1 to 1 values in randomk, got 2"));
  EXPECT_EQ(Refusal({1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, 2), "");
}

}  // namespace
}  // namespace banyan
