#include "compression/codecs/top_k_selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "compression/kernels/magnitudes.h"
#include "compression/testing/testing_samples.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Indices = std::vector<uint32_t>;

// By sorting all of them.
Indices SortedSelection(const std::vector<float>& values, int64_t k) {
  Indices order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return MagnitudeOf(values[a]) > MagnitudeOf(values[b]); });
  order.resize(k);
  std::sort(order.begin(), order.end());
  std::erase_if(order, [&](uint32_t i) { return values[i] == 0; });
  return order;
}

// What training may produce: noise, many equal ones, mostly zeros, one block that is much larger, rising values.
std::vector<std::vector<float>> Shapes(int length) {
  Random random(5);
  std::vector<std::vector<float>> shapes(5, GaussianSamples(length, 3));
  for (float& value : shapes[1]) value = static_cast<float>(random.Between(-3, 3));
  for (float& value : shapes[2]) value = random.Chance(0.99) ? 0 : value;
  for (int i = 0; i < length / 50; ++i) shapes[3][i] *= 1000;
  for (int i = 0; i < length; ++i) shapes[4][i] = static_cast<float>(i);
  return shapes;
}

TEST(TopKSelectionTest, KeepsTheShareOfElements) {
  EXPECT_EQ(KeptElements(1000, 0.01), 10);
  EXPECT_EQ(KeptElements(1000, 0.0104), 10);
  EXPECT_EQ(KeptElements(1000, 0.0106), 11);
  EXPECT_EQ(KeptElements(10, 0.01), 1);
  EXPECT_EQ(KeptElements(10, 1), 10);
  EXPECT_EQ(KeptElements(10, 7), 10);
  EXPECT_EQ(KeptElements(10, -1), 1);
  EXPECT_EQ(KeptElements(10, std::numeric_limits<double>::quiet_NaN()), 1);
}

TEST(TopKSelectionTest, ExactSelectionIsThatOfSorting) {
  for (int length : {1, 2, 10, 100, 3000, 50000}) {
    for (const std::vector<float>& values : Shapes(length)) {
      for (double ratio : {0.0001, 0.01, 0.3, 0.9, 1.0}) {
        const int64_t k = KeptElements(length, ratio);
        ASSERT_EQ(SelectLargest(values, k), SortedSelection(values, k)) << length << " " << ratio;
      }
    }
  }
}

TEST(TopKSelectionTest, OfEqualOnesTheFirstAreKept) {
  EXPECT_THAT(SelectLargest({1, -2, 2, 2, 3}, 3), ElementsAre(1, 2, 4));
  EXPECT_THAT(SelectLargest(std::vector<float>(100000, 1.0f), 3), ElementsAre(0, 1, 2));
}

TEST(TopKSelectionTest, NotANumberIsLargest) {
  EXPECT_THAT(SelectLargest({1, INFINITY, -std::nanf(""), 4}, 1), ElementsAre(2));
  EXPECT_THAT(SelectLargest({1, -INFINITY, 3e38f, 4}, 1), ElementsAre(1));
}

TEST(TopKSelectionTest, ZerosAreNotKept) {
  EXPECT_THAT(SelectLargest({0, 1, -0.0f, 0}, 3), ElementsAre(1));
  EXPECT_THAT(SelectLargest({0, 0}, 1), IsEmpty());
  EXPECT_THAT(SelectLargestSampled({0, 0}, 1, 0), IsEmpty());
  EXPECT_THAT(SelectLargest({1e-45f, 0}, 1), ElementsAre(0));
}

TEST(TopKSelectionTest, ASampleKeepsAboutAsMany) {
  const std::vector<float> values = GaussianSamples(65536, 1);
  double sum = 0;
  double squares = 0;
  constexpr int kSeeds = 200;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Indices indices = SelectLargestSampled(values, 655, seed);
    EXPECT_GE(indices.size(), 327u);
    EXPECT_LE(indices.size(), 1310u);
    EXPECT_EQ(indices, SelectLargest(values, indices.size())) << "no others than the largest";
    sum += indices.size() / 655.0;
    squares += std::pow(indices.size() / 655.0, 2);
  }
  EXPECT_NEAR(sum / kSeeds, 1, 0.08);
  EXPECT_NEAR(std::sqrt(squares / kSeeds - std::pow(sum / kSeeds, 2)), 1 / std::sqrt(16), 0.06);
}

TEST(TopKSelectionTest, ASampleStaysInItsBoundsWhateverComes) {
  for (int length : {1, 100, 5000, 50000}) {
    for (const std::vector<float>& values : Shapes(length)) {
      for (double ratio : {0.0001, 0.01, 0.3, 0.9}) {
        const int64_t k = KeptElements(length, ratio);
        const int64_t found = SelectLargestSampled(values, k, 9).size();
        const int64_t others = length - std::count(values.begin(), values.end(), 0.0f);
        EXPECT_LE(found, 2 * k);
        EXPECT_GE(2 * found, std::min(k, others)) << length << " " << ratio;
      }
    }
  }
}

TEST(TopKSelectionTest, TheSeedDecidesTheSample) {
  const std::vector<float> values = GaussianSamples(65536, 1);
  EXPECT_EQ(SelectLargestSampled(values, 655, 1), SelectLargestSampled(values, 655, 1));
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 20; ++seed) sizes.insert(SelectLargestSampled(values, 655, seed).size());
  EXPECT_GT(sizes.size(), 10u);
}

}  // namespace
}  // namespace banyan
