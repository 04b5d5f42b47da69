#include "compression/kernels/hadamard.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr RandomKey kKey = {.first = 123, .second = 456};

double SignOf(int64_t i) {
  return (RandomWord(kKey, static_cast<uint32_t>(i / 512 * 16 + i % 16)) >> (i / 16 % 32) & 1) ? -1 : 1;
}

// By the definition of Sylvester's matrix: the entry is -1 where the indices share an odd number of bits.
double EntryOf(size_t row, size_t column) { return std::popcount(row & column) % 2 == 0 ? 1 : -1; }

TEST(HadamardTest, IsTheProductWithTheMatrix) {
  for (int64_t size : {1, 2, 8, 16, 64, 128, 256, 1024}) {
    const std::vector<float> values = GaussianSamples(size, 1);
    for (KernelPath path : KernelPaths()) {
      std::vector<float> row(size);
      FlipAndTransform(values, kKey, absl::MakeSpan(row), path);
      for (int64_t i = 0; i < size; ++i) {
        double product = 0;
        for (int64_t j = 0; j < size; ++j) product += EntryOf(i, j) * SignOf(j) * values[j];
        ASSERT_NEAR(row[i], product, 1e-5 * size) << size;
      }
    }
  }
}

TEST(HadamardTest, EveryPathGivesTheSameBits) {
  for (int64_t size = 1; size <= 32768; size *= 2) {
    const std::vector<float> values = LaplaceSamples(size, 2);
    std::vector<float> expected(size), expected_back(size);
    FlipAndTransform(values, kKey, absl::MakeSpan(expected), KernelPath::kPortable);
    FlipInto(expected, kKey, 0.3f, absl::MakeSpan(expected_back), KernelPath::kPortable);
    for (KernelPath path : KernelPaths()) {
      std::vector<float> row(size), back(size), sums = values;
      FlipAndTransform(values, kKey, absl::MakeSpan(row), path);
      EXPECT_EQ(row, expected) << size;
      FlipInto(row, kKey, 0.3f, absl::MakeSpan(back), path);
      EXPECT_EQ(back, expected_back) << size;
      FlipAddInto(row, kKey, 0.3f, absl::MakeSpan(sums), path);
      for (int64_t i = 0; i < size; ++i) ASSERT_EQ(sums[i], values[i] + back[i]);
      Transform(absl::MakeSpan(row), path);
      Transform(absl::MakeSpan(expected), KernelPath::kPortable);
      EXPECT_EQ(row, expected) << size;
      FlipAndTransform(values, kKey, absl::MakeSpan(expected), KernelPath::kPortable);
    }
  }
}

TEST(HadamardTest, TwiceGivesTheValuesBack) {
  for (int64_t size = 1; size <= 32768; size *= 2) {
    const std::vector<float> values = GaussianSamples(size, 3);
    std::vector<float> row(size), back(size);
    FlipAndTransform(values, kKey, absl::MakeSpan(row));
    Transform(absl::MakeSpan(row));
    FlipInto(row, kKey, 1.0f / static_cast<float>(size), absl::MakeSpan(back));
    EXPECT_LT(NormalizedError(values, back), 1e-11) << size;
  }
}

TEST(HadamardTest, MissingValuesAreZeros) {
  for (int64_t size : {16, 128, 2048}) {
    std::vector<float> values = GaussianSamples(size, 4);
    std::fill(values.begin() + size / 2 + 1, values.end(), 0.0f);
    std::vector<float> whole(size), part(size, 9.0f);
    FlipAndTransform(values, kKey, absl::MakeSpan(whole));
    FlipAndTransform(absl::MakeConstSpan(values).subspan(0, size / 2 + 1), kKey, absl::MakeSpan(part));
    EXPECT_EQ(part, whole);
    std::vector<float> few(size / 2 + 1), all(size);
    FlipInto(whole, kKey, 0.5f, absl::MakeSpan(all));
    FlipInto(whole, kKey, 0.5f, absl::MakeSpan(few));
    EXPECT_EQ(std::memcmp(few.data(), all.data(), 4 * few.size()), 0);
  }
}

}  // namespace
}  // namespace banyan
