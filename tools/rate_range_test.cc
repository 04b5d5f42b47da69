#include "gtest/gtest.h"
#include "tools/flag_values.h"

namespace banyan {
namespace {

TEST(RateRangeTest, ReadsWhatItWrites) {
  const absl::StatusOr<RateRange> range = ParseRateRange("5-38.75");
  ASSERT_TRUE(range.ok()) << range.status();
  EXPECT_EQ(range->low_bps(), 5e6);
  EXPECT_EQ(range->high_bps(), 38.75e6);
  EXPECT_EQ(range->ToString(), "5-38.75");
  EXPECT_EQ(RateRange().ToString(), "20-155");
}

TEST(RateRangeTest, MayHaveUnits) {
  for (const char* text : {"20-155Mbit/s", "20Mbps-155Mbps", "20M-155M", "0.02Gbit/s-0.155Gbit/s"}) {
    const absl::StatusOr<RateRange> range = ParseRateRange(text);
    ASSERT_TRUE(range.ok()) << text << range.status();
    EXPECT_DOUBLE_EQ(range->low_bps(), 20e6) << text;
    EXPECT_DOUBLE_EQ(range->high_bps(), 155e6) << text;
  }
}

TEST(RateRangeTest, RefusesWhatIsNoRange) {
  for (const char* wrong : {"", "20", "20-", "-20", "155-20", "0-5", "a-b", "nan-20", "20-inf", "20-155-200"}) {
    EXPECT_FALSE(ParseRateRange(wrong).ok()) << wrong;
  }
  EXPECT_EQ(ParseRateRange("155-20").status().message(),
            "expected two rates in Mbit/s, the lower one first, such as 20-155, got '155-20'");
}

}  // namespace
}  // namespace banyan
