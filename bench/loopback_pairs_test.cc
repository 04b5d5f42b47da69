#include "bench/loopback_pairs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(LoopbackPairsTest, ComeBackAsTheyWere) {
  const absl::StatusOr<LoopbackPairs> pairs = ParsePairs(FormatPairs({{0.25, 0.5}, {0.125, 1}}));
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_THAT(pairs->banyan_seconds, ElementsAre(0.25, 0.5));
  EXPECT_THAT(pairs->gloo_seconds, ElementsAre(0.125, 1));
}

TEST(LoopbackPairsTest, RefusesOtherLines) {
  for (const char* line : {"", "x", "{}", "{\"banyan_seconds\":[1]}", "{\"banyan_seconds\":[1],\"gloo_seconds\":[]}",
                           "{\"banyan_seconds\":[\"a\"],\"gloo_seconds\":[1]}"}) {
    EXPECT_FALSE(ParsePairs(line).ok()) << line;
  }
}

TEST(LoopbackPairsTest, TheSlowestProcessCounts) {
  const LoopbackPairs slowest = Slowest({{{1, 5}, {2, 2}}, {{3, 4}, {1, 7}}});
  EXPECT_THAT(slowest.banyan_seconds, ElementsAre(3, 5));
  EXPECT_THAT(slowest.gloo_seconds, ElementsAre(2, 7));
}

TEST(LoopbackPairsTest, TheRatioIsTheMedianOfThePairs) {
  const LoopbackSummary summary = Summarize({{1, 2, 30, 4}, {1, 1, 10, 1}});
  EXPECT_DOUBLE_EQ(summary.banyan_seconds, 3);
  EXPECT_DOUBLE_EQ(summary.gloo_seconds, 1);
  EXPECT_DOUBLE_EQ(summary.ratio, 2.5);
}

}  // namespace
}  // namespace banyan
