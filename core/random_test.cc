#include "core/random.h"

#include <array>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(RandomTest, SameSeedGivesSameSequence) {
  Random a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    differs |= value != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomTest, SequenceIsTheSameOnEveryCompiler) {
  Random random(1);
  EXPECT_EQ(random.Next(), 0xb3f2af6d0fc710c5ULL);
}

TEST(RandomTest, BelowIsUniform) {
  Random random(3);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60000; ++i) ++counts[random.Below(6)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(RandomTest, BetweenIncludesBothEnds) {
  Random random(4);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const int64_t value = random.Between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    low |= value == -2;
    high |= value == 2;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(random.Between(INT64_MAX, INT64_MAX), INT64_MAX);
  random.Between(INT64_MIN, INT64_MAX);
}

TEST(RandomTest, UnitAndChanceFollowTheirProbability) {
  Random random(5);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) {
    const double unit = random.Unit();
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    hits += random.Chance(0.25);
  }
  EXPECT_NEAR(hits, 2500, 150);
}

TEST(RandomTest, ForkIsIndependent) {
  Random a(9), b(9);
  Random fork = a.Fork();
  b.Fork();
  fork.Next();
  EXPECT_EQ(a.Next(), b.Next());
}

}  // namespace
}  // namespace banyan
