#include <vector>

#include "compression/testing/testing_samples.h"
#include "compression/trimmable/level_bits.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr RandomKey kKey = {3, 5};

TEST(DitherTest, IsUniformWithinTheBound) {
  std::vector<float> dither(100'000);
  AddDither(std::vector<float>(dither.size(), 0.0f), kKey, 2.0f, absl::MakeSpan(dither));
  double sum = 0, squares = 0;
  for (const float value : dither) {
    ASSERT_GE(value, -2.0f);
    ASSERT_LT(value, 2.0f);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / 100'000, 0, 0.01);
  EXPECT_NEAR(squares / 100'000, 4.0 / 3, 0.01);
}

TEST(DitherTest, IsTakenOffAgain) {
  const std::vector<float> values = GaussianSamples(1001, 1);
  std::vector<float> dithered(values.size());
  AddDither(values, kKey, 8.0f, absl::MakeSpan(dithered));
  SubtractDither(kKey, 8.0f, absl::MakeSpan(dithered));
  for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(dithered[i], values[i], 1e-6);
}

TEST(DitherTest, ValuesAreCutToTheBound) {
  std::vector<float> dithered(2);
  AddDither({100.0f, -100.0f}, kKey, 1.0f, absl::MakeSpan(dithered));
  SubtractDither(kKey, 1.0f, absl::MakeSpan(dithered));
  EXPECT_NEAR(dithered[0], 1, 1e-6);
  EXPECT_NEAR(dithered[1], -1, 1e-6);
}

}  // namespace
}  // namespace banyan
