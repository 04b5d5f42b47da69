// What int8 and int4 promise alike: unbiased levels of a step that follows from the largest magnitude of a block.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compression/codecs/codecs.h"
#include "compression/testing/testing_round_trip.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kBlock = 256;

struct Quantizer {
  const Codec* codec;
  int levels;
  // As its header says, with what a sample of this size may be off by.
  double gaussian_error, gaussian_tolerance;
  double laplace_error, laplace_tolerance;
};

class StochasticQuantizationTest : public testing::TestWithParam<Quantizer> {
 protected:
  const Codec& codec() const { return *GetParam().codec; }

  // Between two levels of the block that element `i` is in.
  double StepAt(const std::vector<float>& values, size_t i) const {
    float largest = 0;
    const size_t first = i / kBlock * kBlock;
    const size_t end = std::min(values.size(), first + kBlock);
    for (size_t j = first; j < end; ++j) largest = std::max(largest, std::abs(values[j]));
    return largest / static_cast<double>(GetParam().levels);
  }

  // Between two levels at the distance f from the lower one the variance is f (1 - f) squared steps.
  double ExpectedError(const std::vector<float>& values) const {
    double variance = 0, norm = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double step = StepAt(values, i);
      const double fraction = values[i] / step - std::floor(values[i] / step);
      variance += fraction * (1 - fraction) * step * step;
      norm += static_cast<double>(values[i]) * values[i];
    }
    return variance / norm;
  }
};

TEST_P(StochasticQuantizationTest, ErrorIsThatOfTheory) {
  const std::vector<float> gaussian = GaussianSamples(1 << 18, 1);
  const std::vector<float> laplace = LaplaceSamples(1 << 18, 2);
  const double gaussian_error = NormalizedError(gaussian, RoundTrip(codec(), gaussian));
  const double laplace_error = NormalizedError(laplace, RoundTrip(codec(), laplace));
  EXPECT_NEAR(gaussian_error / ExpectedError(gaussian), 1, 0.03);
  EXPECT_NEAR(laplace_error / ExpectedError(laplace), 1, 0.03);
  EXPECT_NEAR(gaussian_error, GetParam().gaussian_error, GetParam().gaussian_tolerance);
  EXPECT_NEAR(laplace_error, GetParam().laplace_error, GetParam().laplace_tolerance);
}

TEST_P(StochasticQuantizationTest, NoElementIsOffByMoreThanAStep) {
  const std::vector<float> values = LaplaceSamples(10'000, 3);
  const std::vector<float> decoded = RoundTrip(codec(), values);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_LE(std::abs(decoded[i] - values[i]), 1.001 * StepAt(values, i));
  }
}

TEST_P(StochasticQuantizationTest, IsUnbiased) {
  constexpr int kSeeds = 2000;
  const std::vector<float> values = GaussianSamples(600, 4);
  const std::vector<double> means = MeanRoundTrip(codec(), values, kSeeds);
  double bias = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double step = StepAt(values, i);
    // Five standard deviations of the mean, of which half a step is the largest.
    ASSERT_NEAR(means[i], values[i], 5 * 0.5 * step / std::sqrt(kSeeds));
    bias += (means[i] - values[i]) / step / static_cast<double>(values.size());
  }
  EXPECT_NEAR(bias, 0, 5 * 0.5 / std::sqrt(600.0 * kSeeds));
}

TEST_P(StochasticQuantizationTest, ABlockThatIsNotFiniteIsSeenAndOthersStay) {
  std::vector<float> values = GaussianSamples(600, 5);
  values[300] = INFINITY;
  const std::vector<float> decoded = RoundTrip(codec(), values);
  for (int64_t i = 0; i < 600; ++i) EXPECT_EQ(std::isnan(decoded[i]), i / kBlock == 1) << i;
}

TEST_P(StochasticQuantizationTest, BadScalesAreRefused) {
  std::vector<FrameHeader> headers;
  Buffer frame = codec().Encode(Buffer::CopyOf({1.0f, 2.0f}), Encoding{.codec = codec().id()}, &headers)[0];
  static_cast<uint8_t*>(frame.mutable_data())[3] |= 0x80;
  EXPECT_FALSE(codec().Check(headers[0], frame, 2).ok());
}

INSTANTIATE_TEST_SUITE_P(All, StochasticQuantizationTest,
                         testing::Values(Quantizer{&Int8Codec(), 127, 9.7e-5, 1e-6, 2.0e-4, 6e-6},
                                         Quantizer{&Int4Codec(), 7, 0.032, 0.0005, 0.066, 0.0015}),
                         [](const auto& info) { return "levels" + std::to_string(info.param.levels); });

}  // namespace
}  // namespace banyan
