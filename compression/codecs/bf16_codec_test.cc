#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kCount = 1 << 20;

TEST(Bf16CodecTest, TakesTwoBytesPerElement) { EXPECT_EQ(EncodedBytes(Bf16Codec(), std::vector<float>(1001)), 2002); }

TEST(Bf16CodecTest, ErrorKeepsItsBounds) {
  for (const std::vector<float>& values : {GaussianSamples(kCount, 1), LaplaceSamples(kCount, 2)}) {
    const std::vector<float> decoded = RoundTrip(Bf16Codec(), values);
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_LE(std::abs(decoded[i] - values[i]), 0x1p-8f * std::abs(values[i]));
    }
    EXPECT_LT(NormalizedError(values, decoded), 0x1p-16);
  }
}

TEST(Bf16CodecTest, WhatIsNotFiniteStays) {
  const std::vector<float> decoded = RoundTrip(Bf16Codec(), {INFINITY, -INFINITY, std::nanf(""), 3.4e38f});
  EXPECT_EQ(decoded[0], INFINITY);
  EXPECT_EQ(decoded[1], -INFINITY);
  EXPECT_TRUE(std::isnan(decoded[2]));
  EXPECT_EQ(decoded[3], INFINITY);
}

}  // namespace
}  // namespace banyan
