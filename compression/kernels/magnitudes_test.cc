#include "compression/kernels/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "compression/testing/testing_samples.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kLengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 1000, 1023, 1024, 1025, 5000};

// Gaussian ones with whatever else a float may be among them.
std::vector<float> OddValues(int count) {
  Random random(count);
  std::vector<float> values = GaussianSamples(count, count);
  const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, std::nanf("1"), -std::nanf("2"), 1e-45f, 3.4e38f, 1.0f, -1.0f};
  for (float& value : values) {
    if (random.Chance(0.3)) value = odd[random.Below(std::size(odd))];
  }
  return values;
}

std::vector<uint32_t> AllFrom(const std::vector<float>& values, Magnitude threshold) {
  std::vector<uint32_t> indices;
  for (size_t i = 0; i < values.size(); ++i) {
    if (MagnitudeOf(values[i]) >= threshold) indices.push_back(static_cast<uint32_t>(i));
  }
  return indices;
}

TEST(MagnitudesTest, AreInTheOrderOfTheNumbers) {
  EXPECT_EQ(MagnitudeOf(-0.0f), 0u);
  EXPECT_EQ(MagnitudeOf(-2.5f), MagnitudeOf(2.5f));
  EXPECT_LT(MagnitudeOf(1e-45f), MagnitudeOf(-1e-38f));
  EXPECT_LT(MagnitudeOf(1.0f), MagnitudeOf(-1.5f));
  EXPECT_LT(MagnitudeOf(3.4e38f), MagnitudeOf(-INFINITY));
  EXPECT_LT(MagnitudeOf(INFINITY), MagnitudeOf(-std::nanf("")));
}

TEST(MagnitudesTest, FindsTheKthLargest) {
  for (int length : kLengths) {
    const std::vector<float> values = OddValues(length);
    std::vector<Magnitude> sorted;
    for (float value : values) sorted.push_back(MagnitudeOf(value));
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    for (int64_t k : {1, 2, length / 3, length - 1, length}) {
      if (k < 1 || k > length) continue;
      for (KernelPath path : KernelPaths()) {
        EXPECT_EQ(KthLargestMagnitude(values, k, kMagnitudeBits, path), sorted[k - 1]) << k << " of " << length;
      }
    }
  }
}

TEST(MagnitudesTest, FindsTheHighestBitsOnly) {
  const std::vector<float> values = GaussianSamples(1000, 1);
  const Magnitude exact = KthLargestMagnitude(values, 100);
  for (int bits = 1; bits <= kMagnitudeBits; bits += 2) {
    const Magnitude mask = ~((Magnitude{1} << (kMagnitudeBits - bits)) - 1);
    EXPECT_EQ(KthLargestMagnitude(values, 100, bits), exact & mask) << bits;
  }
}

TEST(MagnitudesTest, EveryPathCollectsTheSame) {
  for (KernelPath path : KernelPaths()) {
    for (int length : kLengths) {
      const std::vector<float> values = OddValues(length);
      for (Magnitude threshold : {0u, 1u, MagnitudeOf(1.0f), MagnitudeOf(2.5f), MagnitudeOf(INFINITY), 0x7fffffffu}) {
        EXPECT_EQ(CollectFrom(values, threshold, length, path), AllFrom(values, threshold))
            << length << " " << static_cast<int>(path);
      }
    }
  }
}

TEST(MagnitudesTest, StopsSoonBehindTheLimit) {
  const std::vector<float> values(100000, 1.0f);
  for (KernelPath path : KernelPaths()) {
    const std::vector<uint32_t> indices = CollectFrom(values, 1, 10, path);
    EXPECT_GT(indices.size(), 10u);
    EXPECT_LT(indices.size(), 2000u);
    EXPECT_EQ(indices.back(), indices.size() - 1);
    EXPECT_EQ(CollectFrom(values, 1, 100000, path).size(), values.size());
  }
}

TEST(MagnitudesTest, CollectsFromNothing) {
  EXPECT_THAT(CollectFrom({}, 0, 10), IsEmpty());
  EXPECT_THAT(CollectFrom({1, -3, 2}, MagnitudeOf(2), 10), ElementsAre(1, 2));
}

}  // namespace
}  // namespace banyan
