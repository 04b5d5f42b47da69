#include "compression/codecs/stratified_choice.h"

#include <cmath>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> Choose(int64_t range, int64_t count, uint64_t seed) {
  std::vector<uint32_t> indices(count);
  ChooseStratified(range, seed, absl::MakeSpan(indices));
  return indices;
}

TEST(StratifiedChoiceTest, IndicesAreDifferentAndInside) {
  for (int64_t range : {1, 2, 10, 97, 1000, 65536}) {
    for (int64_t count : {int64_t{1}, range / 10, range / 3, range - 1, range}) {
      if (count < 1) continue;
      for (uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<uint32_t> indices = Choose(range, count, seed);
        const std::set<uint32_t> different(indices.begin(), indices.end());
        ASSERT_EQ(different.size(), indices.size());
        EXPECT_LT(*different.rbegin(), range);
      }
    }
  }
}

TEST(StratifiedChoiceTest, WorksAtTheEndOfTheLongestRange) {
  std::set<uint32_t> different;
  for (uint32_t index : Choose(INT32_MAX, 1000, 5)) {
    EXPECT_LT(index, static_cast<uint32_t>(INT32_MAX));
    different.insert(index);
  }
  EXPECT_EQ(different.size(), 1000u);
}

// Peers compute the same choice for ever: a change of these numbers is a change of the wire format.
TEST(StratifiedChoiceTest, TheSeedDecides) {
  EXPECT_EQ(Choose(1000, 10, 7), Choose(1000, 10, 7));
  EXPECT_NE(Choose(1000, 10, 7), Choose(1000, 10, 8));
  EXPECT_THAT(Choose(1000, 4, 42), ElementsAre(952, 996, 407, 633));
}

TEST(StratifiedChoiceTest, EveryPathChoosesTheSame) {
  for (int64_t count : {1, 2, 15, 16, 17, 333, 1000}) {
    for (KernelPath path : KernelPaths()) {
      std::vector<uint32_t> indices(count);
      ChooseStratified(1000, 9, absl::MakeSpan(indices), path);
      EXPECT_EQ(indices, Choose(1000, count, 9)) << static_cast<int>(path);
    }
  }
}

// Pearson's chi-squared of how often each element came, in standard deviations from its mean.
double ChiSquaredDeviations(int64_t range, int64_t count, int rounds) {
  std::vector<int> times(range, 0);
  for (int seed = 0; seed < rounds; ++seed) {
    for (uint32_t index : Choose(range, count, seed)) ++times[index];
  }
  const double share = static_cast<double>(count) / range;
  double chi_squared = 0;
  for (int seen : times) chi_squared += std::pow(seen - rounds * share, 2) / (rounds * share * (1 - share));
  return (chi_squared - range) / std::sqrt(2.0 * range);
}

TEST(StratifiedChoiceTest, EveryElementIsEquallyLikely) {
  EXPECT_LT(std::abs(ChiSquaredDeviations(1000, 10, 20000)), 4);
  EXPECT_LT(std::abs(ChiSquaredDeviations(1000, 300, 5000)), 4);
  // Strata of one and of two elements, which without the turn would differ by a factor of two.
  EXPECT_LT(std::abs(ChiSquaredDeviations(1000, 700, 5000)), 4);
}

// How often pairs of elements of different strata come together: as often as independent draws say.
TEST(StratifiedChoiceTest, StrataAreIndependent) {
  constexpr int kRounds = 40000;
  int together = 0;
  for (int seed = 0; seed < kRounds; ++seed) {
    const std::vector<uint32_t> indices = Choose(100, 10, seed);
    const std::set<uint32_t> chosen(indices.begin(), indices.end());
    together += chosen.contains(3) && chosen.contains(53);
  }
  EXPECT_NEAR(together, kRounds * 0.01, 4 * std::sqrt(kRounds * 0.01));
}

}  // namespace
}  // namespace banyan
