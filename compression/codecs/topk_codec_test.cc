#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kLarge = 1'000'000;

Encoding TopK(double ratio, TopKSelection selection = TopKSelection::kExact, CodecId value_codec = CodecId::kFp32) {
  return {.codec = CodecId::kTopK, .ratio = ratio, .selection = selection, .value_codec = value_codec, .seed = 3};
}

double Error(const std::vector<float>& values, const Encoding& encoding) {
  return NormalizedError(values, RoundTrip(TopKCodec(), values, encoding));
}

int64_t Bytes(const std::vector<float>& values, const Encoding& encoding) {
  std::vector<FrameHeader> headers;
  TopKCodec().Encode(Buffer::CopyOf(values), encoding, &headers);
  return headers[0].size_bytes;
}

// The error of a frame of these bytes for `elements` elements.
std::string Refusal(const std::vector<uint8_t>& bytes, int64_t elements) {
  const FrameHeader header = {.codec = CodecId::kTopK, .elements = elements, .size_bytes = std::ssize(bytes)};
  return std::string(TopKCodec().Check(header, Buffer::CopyOfBytes(bytes), elements).message());
}

TEST(TopKCodecTest, KeepsTheLargest) {
  EXPECT_THAT(RoundTrip(TopKCodec(), {1, -5, 0.5f, 4, -2}, TopK(0.4)), ElementsAre(0, -5, 0, 4, 0));
}

TEST(TopKCodecTest, BytesAreThoseOfTheDescription) {
  std::vector<float> values(48, 0.0f);
  values[40] = 1;
  std::vector<FrameHeader> headers;
  const Payload frames = TopKCodec().Encode(Buffer::CopyOf(values), TopK(0.1), &headers);
  // 40 with five low bits: 8, and a zero and a one for the 32 above.
  EXPECT_THAT(frames[0].bytes(), ElementsAre(0, 5, 1, 0, 0, 0, 2, 0, 0, 0, 8, 0b10, 0, 0, 0x80, 0x3f));
  EXPECT_EQ(headers[0], (FrameHeader{CodecId::kTopK, 0, 48, 16}));
}

TEST(TopKCodecTest, ErrorIsThatOfTheory) {
  const std::vector<float> gaussian = GaussianSamples(kLarge, 1);
  const std::vector<float> laplace = LaplaceSamples(kLarge, 2);
  for (CodecId value_codec : {CodecId::kFp32, CodecId::kFp16}) {
    const auto encoding = [&](double ratio) { return TopK(ratio, TopKSelection::kExact, value_codec); };
    EXPECT_NEAR(Error(gaussian, encoding(0.01)), 0.916, 0.001);
    EXPECT_NEAR(Error(laplace, encoding(0.01)), 0.838, 0.002);
    EXPECT_NEAR(Error(gaussian, encoding(0.1)), 0.561, 0.002);
    EXPECT_NEAR(Error(laplace, encoding(0.1)), 0.405, 0.002);
  }
}

// A tenth more or less elements, the standard deviation here, is 0.008 of the error at most.
TEST(TopKCodecTest, ErrorOfASampleIsNearTheory) {
  const std::vector<float> gaussian = GaussianSamples(kLarge, 1);
  const std::vector<float> laplace = LaplaceSamples(kLarge, 2);
  EXPECT_NEAR(Error(gaussian, TopK(0.01, TopKSelection::kSampled)), 0.916, 0.03);
  EXPECT_NEAR(Error(laplace, TopK(0.01, TopKSelection::kSampled)), 0.838, 0.05);
  EXPECT_NEAR(Error(gaussian, TopK(0.1, TopKSelection::kSampled)), 0.561, 0.04);
  EXPECT_NEAR(Error(laplace, TopK(0.1, TopKSelection::kSampled)), 0.405, 0.04);
}

TEST(TopKCodecTest, SizesAreThoseOfTheDescription) {
  const std::vector<float> values = GaussianSamples(kLarge, 1);
  for (const auto& [ratio, bytes] :
       std::vector<std::pair<double, double>>{{0.001, 5.44}, {0.01, 5.01}, {0.1, 4.59}, {0.3, 4.37}}) {
    const double kept = ratio * kLarge;
    EXPECT_NEAR(Bytes(values, TopK(ratio)) / kept, bytes, 0.02) << ratio;
    EXPECT_NEAR(Bytes(values, TopK(ratio, TopKSelection::kExact, CodecId::kFp16)) / kept, bytes - 2, 0.02) << ratio;
  }
}

TEST(TopKCodecTest, NeverLargerThanAllElements) {
  for (int length : {1, 2, 3, 10, 1000, 10000}) {
    const std::vector<float> values = GaussianSamples(length, 1);
    for (double ratio : {0.01, 0.5, 0.9, 0.93, 0.95, 0.97, 0.99, 1.0}) {
      EXPECT_LE(Bytes(values, TopK(ratio)), 10 + 4 * length);
      EXPECT_LE(Bytes(values, TopK(ratio, TopKSelection::kExact, CodecId::kFp16)), 10 + 2 * length);
    }
    EXPECT_EQ(Bytes(values, TopK(1)), 10 + 4 * length);
    EXPECT_EQ(RoundTrip(TopKCodec(), values, TopK(1)), values);
    EXPECT_EQ(RoundTrip(TopKCodec(), values, TopK(0.99)), values) << "where they cost nothing, all are there";
  }
}

TEST(TopKCodecTest, ZerosCostNothing) {
  std::vector<float> values(1000, 0.0f);
  EXPECT_EQ(Bytes(values, TopK(0.5)), 10);
  EXPECT_EQ(RoundTrip(TopKCodec(), values, TopK(0.5)), values);
  values[500] = 1;
  EXPECT_LE(Bytes(values, TopK(0.5)), 17);
  EXPECT_EQ(RoundTrip(TopKCodec(), values, TopK(0.5)), values);
}

TEST(TopKCodecTest, ADivergedElementIsSeen) {
  for (TopKSelection selection : {TopKSelection::kExact, TopKSelection::kSampled}) {
    std::vector<float> values = GaussianSamples(65536, 1);
    values[777] = std::nanf("");
    EXPECT_TRUE(std::isnan(RoundTrip(TopKCodec(), values, TopK(0.0001, selection))[777]));
  }
}

TEST(TopKCodecTest, RefusesFieldsThatLie) {
  EXPECT_THAT(Refusal({0, 0, 0}, 8), HasSubstr("expected 10 bytes"));
  EXPECT_THAT(Refusal({2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 8), HasSubstr("as codec 0 or 1, got 2"));
  EXPECT_THAT(Refusal({0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 8), HasSubstr("expected 15 bytes"));
  EXPECT_THAT(Refusal({0, 0, 0, 0, 0, 0, 255, 255, 255, 255}, 8), HasSubstr("expected 4294967305 bytes"));
  EXPECT_THAT(Refusal({0, 255, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 2), HasSubstr("expected all 2 elements"));
  EXPECT_THAT(Refusal({0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0b100, 0, 0, 0, 0}, 2),
              HasSubstr("inside the range, got 2 in topk"));
  EXPECT_EQ(Refusal({0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0b100, 0, 0, 0, 0}, 3), "");
}

}  // namespace
}  // namespace banyan
