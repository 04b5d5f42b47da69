#include <algorithm>
#include <cmath>
#include <vector>

#include "compression/kernels/vector_math.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// The order that the header promises, one element at a time.
template <typename Term>
double InOrder(const std::vector<float>& values, Term term) {
  double lanes[16] = {};
  for (size_t i = 0; i < values.size(); ++i) lanes[i % 16] += term(values[i]);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

TEST(LaneSumsTest, EveryPathAddsInTheSameOrder) {
  for (int64_t length : {0, 1, 15, 16, 17, 1000, 4099}) {
    const std::vector<float> values = LaplaceSamples(length, 1);
    for (KernelPath path : KernelPaths()) {
      EXPECT_EQ(SumOfMagnitudes(values, path), InOrder(values, [](double x) { return std::abs(x); }));
      EXPECT_EQ(SumOfSquares(values, path), InOrder(values, [](double x) { return x * x; }));
    }
  }
}

TEST(LaneSumsTest, PartsHaveTheSumOfTheWhole) {
  const std::vector<float> values = LaplaceSamples(4099, 2);
  for (KernelPath path : KernelPaths()) {
    MagnitudeSum sum;
    size_t first = 0;
    for (size_t part = 0; first < values.size(); ++part) {
      const size_t count = std::min<size_t>(part * 7 % 61, values.size() - first);
      sum.Add(absl::MakeConstSpan(values).subspan(first, count), path);
      first += count;
    }
    EXPECT_EQ(sum.Total(), SumOfMagnitudes(values));
  }
}

TEST(LaneSumsTest, LargeAndSmallValuesFit) {
  EXPECT_EQ(SumOfSquares(std::vector<float>(4, 0x1p127f)), 0x1p256);
  EXPECT_EQ(SumOfSquares(std::vector<float>(4, 0x1p-149f)), 0x1p-296);
  EXPECT_EQ(SumOfMagnitudes(std::vector<float>(4, -0x1p127f)), 0x1p129);
}

TEST(LaneSumsTest, WhatIsNotFiniteShows) {
  EXPECT_TRUE(std::isnan(SumOfMagnitudes({1.0f, std::nanf(""), 2.0f})));
  EXPECT_EQ(SumOfMagnitudes({1.0f, -INFINITY}), INFINITY);
}

}  // namespace
}  // namespace banyan
