#include "tools/wan_benchmark/contender_result.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(ContenderResultTest, SumsUpRounds) {
  ContenderResult result;
  EXPECT_FALSE(result.ok());
  result.rounds = {{3, 1, 4.0}, {4, 1, 1.0}, {5, 1, 2.0}, {6, 1, 9.0}};
  result.links = {{"a", "b", 100}, {"b", "a", 300}};
  EXPECT_TRUE(result.ok());
  EXPECT_DOUBLE_EQ(MedianSeconds(result), 3);
  EXPECT_DOUBLE_EQ(FastestSeconds(result), 1);
  EXPECT_DOUBLE_EQ(SlowestSeconds(result), 9);
  EXPECT_DOUBLE_EQ(BytesPerRound(result), 100);
  result.rounds.pop_back();
  EXPECT_DOUBLE_EQ(MedianSeconds(result), 2);
}

TEST(ContenderResultTest, CountsWhatLinksCarriedMeanwhile) {
  WanStatus before;
  before.links.push_back({.from = "a", .to = "b", .bytes = 1000});
  WanStatus after = before;
  after.links[0].bytes = 1700;
  after.links.push_back({.from = "b", .to = "a", .bytes = 5});
  const std::vector<ContenderResult::Link> links = LinkBytesBetween(before, after);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].bytes, 700);
  EXPECT_EQ(links[1].bytes, 5);
}

}  // namespace
}  // namespace banyan
