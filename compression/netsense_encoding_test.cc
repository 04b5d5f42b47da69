#include "compression/netsense_encoding.h"

#include <cmath>
#include <vector>

#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

Encoding TopK(double ratio, NetSenseSteps steps) {
  return {.codec = CodecId::kTopK, .ratio = ratio, .seed = 7, .netsense = steps};
}

TEST(NetSenseEncodingTest, OnlyTopKUnderNetSenseTakesTheSteps) {
  const CompressionRule rule = {.codec = CodecId::kTopK,
                                .controller = RatioControllerKind::kNetSense,
                                .numbers = {{"quantize_below", 0.25}, {"prune_factor", 0.1}}};
  ASSERT_TRUE(NetSenseNumbersOf(rule).has_value());
  EXPECT_EQ(NetSenseNumbersOf(rule)->quantize_below, 0.25);
  EXPECT_EQ(NetSenseNumbersOf(rule)->quantize_rms, 1e-6);
  EXPECT_EQ(NetSenseNumbersOf(rule)->prune_factor, 0.1);
  EXPECT_FALSE(
      NetSenseNumbersOf({.codec = CodecId::kRandomK, .controller = RatioControllerKind::kNetSense}).has_value());
  EXPECT_FALSE(NetSenseNumbersOf({.codec = CodecId::kTopK, .controller = RatioControllerKind::kDa2}).has_value());
}

TEST(NetSenseEncodingTest, QuantizesBelowTheThresholdAndPrunesOnTheWayUp) {
  const NetSenseConfig config;
  EXPECT_EQ(NetSenseStepsFor(config, 0.4, Half::kReduce).quantize_rms, config.quantize_rms);
  EXPECT_TRUE(std::isinf(NetSenseStepsFor(config, 0.5, Half::kReduce).quantize_rms));
  EXPECT_EQ(NetSenseStepsFor(config, 0.4, Half::kBroadcast).quantize_rms, config.quantize_rms);
  EXPECT_EQ(NetSenseStepsFor(config, 0.4, Half::kReduce).prune_factor, 0.5);
  EXPECT_EQ(NetSenseStepsFor(config, 0.4, Half::kBroadcast).prune_factor, 0);
}

TEST(NetSenseEncodingTest, AHalfCostsHalfAndSoTheRatioDoubles) {
  const std::vector<float> values = GaussianSamples(1000, 1);
  const Encoding encoding = Quantized(TopK(0.1, {.quantize_rms = 1e-6, .prune_factor = 0.5}), values);
  EXPECT_EQ(encoding.value_codec, CodecId::kFp16);
  EXPECT_DOUBLE_EQ(encoding.ratio, 0.2);
  EXPECT_EQ(encoding.seed, 7u);
  // Of the doubled ratio, as in the algorithm.
  EXPECT_DOUBLE_EQ(PrunedShare(encoding), 0.4);
  EXPECT_EQ(Quantized(TopK(0.7, {.quantize_rms = 1e-6}), values).ratio, 1);
  EXPECT_EQ(PrunedShare(Quantized(TopK(0.7, {.quantize_rms = 1e-6, .prune_factor = 0.5}), values)), 0);
}

TEST(NetSenseEncodingTest, WithoutTheStepsNothingChanges) {
  const Encoding encoding = Quantized(TopK(0.1, {}), GaussianSamples(1000, 1));
  EXPECT_EQ(encoding.value_codec, CodecId::kFp32);
  EXPECT_EQ(encoding.ratio, 0.1);
  EXPECT_EQ(PrunedShare(encoding), 0);
  EXPECT_EQ(Quantized(TopK(0.1, {.quantize_rms = 0}), {}).value_codec, CodecId::kFp32);
}

// The same values cut into chunks of whatever length have the same norm per element.
TEST(NetSenseEncodingTest, TheThresholdDoesNotDependOnTheLength) {
  for (int length : {1, 16, 1000, 100000}) {
    const std::vector<float> values(length, 1e-3f);
    EXPECT_EQ(Quantized(TopK(0.1, {.quantize_rms = 0.9e-3}), values).value_codec, CodecId::kFp16) << length;
    EXPECT_EQ(Quantized(TopK(0.1, {.quantize_rms = 1.1e-3}), values).value_codec, CodecId::kFp32) << length;
  }
}

// What a half cannot hold stays float32.
TEST(NetSenseEncodingTest, NothingBecomesInfinite) {
  const NetSenseSteps steps = {.quantize_rms = 1e-6};
  EXPECT_EQ(Quantized(TopK(0.1, steps), {65000, 0, 0}).value_codec, CodecId::kFp16);
  for (float value : {65504.0f, 65520.0f, 1e30f, INFINITY, std::nanf("")}) {
    const Encoding encoding = Quantized(TopK(0.1, steps), {value, 0, 0});
    EXPECT_EQ(encoding.value_codec, CodecId::kFp32) << value;
    EXPECT_EQ(encoding.ratio, 0.1) << value;
  }
}

}  // namespace
}  // namespace banyan
