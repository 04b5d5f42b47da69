#include "compression/testing/testing_samples.h"

#include <cmath>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kCount = 1 << 20;

struct Moments {
  double mean = 0, magnitude = 0, square = 0;
};

Moments MomentsOf(const std::vector<float>& samples) {
  Moments moments;
  for (float sample : samples) {
    moments.mean += sample / static_cast<double>(samples.size());
    moments.magnitude += std::abs(sample) / static_cast<double>(samples.size());
    moments.square += static_cast<double>(sample) * sample / static_cast<double>(samples.size());
  }
  return moments;
}

TEST(TestingSamplesTest, GaussianMoments) {
  const Moments moments = MomentsOf(GaussianSamples(kCount, 1));
  EXPECT_NEAR(moments.mean, 0, 0.005);
  EXPECT_NEAR(moments.magnitude, std::sqrt(2 / M_PI), 0.005);
  EXPECT_NEAR(moments.square, 1, 0.01);
}

TEST(TestingSamplesTest, LaplaceMoments) {
  const Moments moments = MomentsOf(LaplaceSamples(kCount, 1));
  EXPECT_NEAR(moments.mean, 0, 0.01);
  EXPECT_NEAR(moments.magnitude, 1, 0.005);
  EXPECT_NEAR(moments.square, 2, 0.03);
}

TEST(TestingSamplesTest, TheSeedDecides) {
  EXPECT_EQ(GaussianSamples(10, 3), GaussianSamples(10, 3));
  EXPECT_NE(LaplaceSamples(10, 3), LaplaceSamples(10, 4));
}

TEST(TestingSamplesTest, ErrorIsRelativeToTheNorm) {
  EXPECT_EQ(NormalizedError({3, 4}, {3, 4}), 0);
  EXPECT_EQ(NormalizedError({3, 4}, {0, 0}), 1);
  EXPECT_EQ(NormalizedError({3, 4}, {3, 9}), 1);
}

}  // namespace
}  // namespace banyan
