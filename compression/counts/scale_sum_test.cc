#include "compression/counts/scale_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace banyan {
namespace {

TEST(ScaleSumTest, NoOrderChangesABit) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> scales(random.Between(1, 50));
    for (float& scale : scales) {
      scale = static_cast<float>(std::ldexp(random.Unit(), static_cast<int>(random.Between(-70, 28))));
    }
    ScaleSum forwards, backwards;
    for (float scale : scales) forwards.Add(ScaleSum::Of(scale));
    std::reverse(scales.begin(), scales.end());
    for (float scale : scales) backwards.Add(ScaleSum::Of(scale));
    EXPECT_EQ(forwards, backwards);
  }
}

TEST(ScaleSumTest, MeanIsExactWhereFloatsAre) {
  ScaleSum sum = ScaleSum::Of(0.75f);
  sum.Add(ScaleSum::Of(0.25f));
  EXPECT_EQ(sum.Mean(2), 0.5f);
  EXPECT_EQ(sum.Mean(4), 0.25f);
  EXPECT_EQ(ScaleSum().Mean(0), 0.0f);
  EXPECT_EQ(ScaleSum::Of(1e-9f).Mean(1), 1e-9f);
}

TEST(ScaleSumTest, WhatIsNotFiniteStaysSo) {
  for (float bad : {std::nanf(""), INFINITY, 3e8f}) {
    ScaleSum sum = ScaleSum::Of(bad);
    EXPECT_FALSE(sum.is_finite());
    sum.Add(ScaleSum::Of(1));
    EXPECT_TRUE(std::isnan(sum.Mean(2)));
  }
  EXPECT_TRUE(ScaleSum::Of(0x1p28f).is_finite());
}

TEST(ScaleSumTest, ASumThatDoesNotFitIsNotFinite) {
  ScaleSum sum = ScaleSum::OfUnits(absl::Uint128Max() - 5);
  sum.Add(ScaleSum::OfUnits(6));
  EXPECT_FALSE(sum.is_finite());
}

}  // namespace
}  // namespace banyan
