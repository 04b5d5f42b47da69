#include "compression/counts/count_planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"

namespace banyan {
namespace {

// Numbers in planes, and back.
std::vector<uint64_t> Planes(const std::vector<int64_t>& numbers, int width) {
  const int64_t words = PlaneWords(static_cast<int64_t>(numbers.size()));
  std::vector<uint64_t> planes(width * words);
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (int k = 0; k < width; ++k) planes[k * words + i / 64] |= static_cast<uint64_t>(numbers[i] >> k & 1) << i % 64;
  }
  return planes;
}

std::vector<int64_t> Numbers(const std::vector<uint64_t>& planes, int64_t elements) {
  const int64_t words = PlaneWords(elements);
  std::vector<int64_t> numbers(elements);
  for (int64_t i = 0; i < elements; ++i) {
    for (int64_t k = 0; k * words < static_cast<int64_t>(planes.size()); ++k) {
      numbers[i] |= static_cast<int64_t>(planes[k * words + i / 64] >> i % 64 & 1) << k;
    }
  }
  return numbers;
}

std::vector<int64_t> RandomNumbers(Random& random, int64_t elements, int width) {
  std::vector<int64_t> numbers(elements);
  for (int64_t& number : numbers) number = random.Between(0, (int64_t{1} << width) - 1);
  return numbers;
}

TEST(CountPlanesTest, WidthIsWhatTheLargestNumberNeeds) {
  EXPECT_EQ(CountWidth(0), 0);
  EXPECT_EQ(CountWidth(1), 1);
  EXPECT_EQ(CountWidth(2), 2);
  EXPECT_EQ(CountWidth(3), 2);
  EXPECT_EQ(CountWidth(4), 3);
  EXPECT_EQ(CountWidth(kMaxVotes), kMaxCountWidth);
}

TEST(CountPlanesTest, SumsAreThoseOfPlainIntegersOnEveryPath) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    const int64_t elements = random.Between(1, 40000);
    const int64_t summands = random.Between(1, kMostSummands);
    std::vector<std::vector<uint64_t>> planes;
    std::vector<CountView> views;
    std::vector<int64_t> expected(elements);
    for (int64_t i = 0; i < summands; ++i) {
      const int width = static_cast<int>(random.Between(1, 6));
      const std::vector<int64_t> numbers = RandomNumbers(random, elements, width);
      for (int64_t k = 0; k < elements; ++k) expected[k] += numbers[k];
      planes.push_back(Planes(numbers, width));
    }
    for (const std::vector<uint64_t>& plane : planes) {
      views.push_back({plane.data(), static_cast<int>(plane.size() / PlaneWords(elements))});
    }
    for (KernelPath path : KernelPaths()) {
      std::vector<uint64_t> sum(10 * PlaneWords(elements), ~uint64_t{0});
      SumCounts(views, PlaneWords(elements), absl::MakeSpan(sum), path);
      ASSERT_EQ(Numbers(sum, elements), expected);
    }
  }
}

TEST(CountPlanesTest, ComparisonsAreThoseOfPlainIntegersOnEveryPath) {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    const int64_t elements = random.Between(1, 40000);
    const int left_width = static_cast<int>(random.Between(1, 5));
    const int right_width = static_cast<int>(random.Between(1, 5));
    const std::vector<int64_t> left = RandomNumbers(random, elements, left_width);
    const std::vector<int64_t> right = RandomNumbers(random, elements, right_width);
    const int64_t bound = random.Between(0, 40);
    const std::vector<uint64_t> left_planes = Planes(left, left_width);
    const std::vector<uint64_t> right_planes = Planes(right, right_width);
    for (KernelPath path : KernelPaths()) {
      std::vector<uint64_t> greater(PlaneWords(elements), ~uint64_t{0});
      WhereGreater({left_planes.data(), left_width}, {right_planes.data(), right_width}, PlaneWords(elements),
                   greater.data(), path);
      std::vector<uint64_t> above(PlaneWords(elements), ~uint64_t{0});
      WhereAbove({left_planes.data(), left_width}, bound, PlaneWords(elements), above.data(), path);
      for (int64_t i = 0; i < elements; ++i) {
        ASSERT_EQ(greater[i / 64] >> i % 64 & 1, left[i] > right[i] ? 1u : 0u);
        ASSERT_EQ(above[i / 64] >> i % 64 & 1, left[i] > bound ? 1u : 0u);
      }
    }
  }
}

TEST(CountPlanesTest, FillAndEnd) {
  std::vector<uint64_t> planes(3 * 2);
  FillCounts(5, 3, 2, planes.data());
  EXPECT_EQ(Numbers(planes, 100), std::vector<int64_t>(100, 5));
  EXPECT_FALSE(IsPlaneEndClear(100, planes.data()));
  ClearPlaneEnd(100, planes.data());
  EXPECT_TRUE(IsPlaneEndClear(100, planes.data()));
  EXPECT_EQ(planes[1], (uint64_t{1} << 36) - 1);
  EXPECT_TRUE(IsPlaneEndClear(128, planes.data()));
}

}  // namespace
}  // namespace banyan
