#include <cmath>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kCount = 1 << 20;

TEST(Fp16CodecTest, TakesTwoBytesPerElement) { EXPECT_EQ(EncodedBytes(Fp16Codec(), std::vector<float>(1001)), 2002); }

TEST(Fp16CodecTest, ErrorKeepsItsBounds) {
  for (const std::vector<float>& values : {GaussianSamples(kCount, 1), LaplaceSamples(kCount, 2)}) {
    const std::vector<float> decoded = RoundTrip(Fp16Codec(), values);
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_LE(std::abs(decoded[i] - values[i]), std::max(0x1p-11f * std::abs(values[i]), 0x1p-25f));
    }
    EXPECT_LT(NormalizedError(values, decoded), 0x1p-23);
  }
}

TEST(Fp16CodecTest, WhatIsNotFiniteStays) {
  const std::vector<float> decoded = RoundTrip(Fp16Codec(), {INFINITY, -INFINITY, std::nanf(""), 1e6f});
  EXPECT_EQ(decoded[0], INFINITY);
  EXPECT_EQ(decoded[1], -INFINITY);
  EXPECT_TRUE(std::isnan(decoded[2]));
  EXPECT_EQ(decoded[3], INFINITY);
}

}  // namespace
}  // namespace banyan
