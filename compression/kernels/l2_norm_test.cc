#include <cmath>
#include <vector>

#include "compression/kernels/vector_math.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// In the order that vector_math.h describes, one addition at a time.
double InOrder(const std::vector<float>& values) {
  volatile double sums[16] = {};
  for (size_t i = 0; i < values.size(); ++i) sums[i % 16] = sums[i % 16] + static_cast<double>(values[i]) * values[i];
  for (int half = 8; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] = sums[lane] + sums[lane + half];
  }
  return std::sqrt(sums[0]);
}

TEST(L2NormTest, HasTheSameBitsAsOneByOne) {
  for (int length : {0, 1, 2, 15, 16, 17, 31, 33, 100, 1000, 65537}) {
    const std::vector<float> values = GaussianSamples(length, 3);
    EXPECT_EQ(L2Norm(values), InOrder(values)) << length;
  }
}

TEST(L2NormTest, IsTheLength) {
  EXPECT_EQ(L2Norm({}), 0);
  EXPECT_EQ(L2Norm({3, -4}), 5);
  EXPECT_NEAR(L2Norm(GaussianSamples(1'000'000, 4)), 1000, 3);
}

TEST(L2NormTest, LosesNothingToOverflow) {
  EXPECT_DOUBLE_EQ(L2Norm(std::vector<float>(4, 3e38f)), 2 * static_cast<double>(3e38f));
  EXPECT_DOUBLE_EQ(L2Norm(std::vector<float>(4, 1e-40f)), 2 * static_cast<double>(1e-40f));
  EXPECT_TRUE(std::isnan(L2Norm({1, std::nanf(""), 2})));
  EXPECT_TRUE(std::isinf(L2Norm({1, INFINITY, 2})));
}

}  // namespace
}  // namespace banyan
