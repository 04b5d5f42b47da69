#include "sim/runs/adaptation.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(AdaptationTest, RoundsAreNearWhenThreeInARowAre) {
  EXPECT_EQ(FirstNear({9, 5, 4.3, 4.1, 4, 9}, 4), 2u);
  EXPECT_EQ(FirstNear({9, 4.3, 5, 4.1, 4}, 4), 3u) << "as far as there are three";
  EXPECT_EQ(FirstNear({9, 5, 4.5}, 4), std::nullopt);
  EXPECT_EQ(FirstNear({}, 4), std::nullopt);
}

TEST(AdaptationTest, FirstAndLaterRoundsAreComparedWithThoseOfWhoKnows) {
  const Adaptation adaptation = AdaptationOf({12, 8, 6, 4, 4, 4, 4, 4.4, 4.2, 4}, 4);
  EXPECT_EQ(adaptation.near_from, 3u);
  EXPECT_EQ(adaptation.near_after_seconds, 26);
  EXPECT_EQ(adaptation.first_rounds, 6u);
  EXPECT_DOUBLE_EQ(adaptation.first_ratio, 38.0 / 24);
  EXPECT_DOUBLE_EQ(adaptation.later_ratio, 1);
}

TEST(AdaptationTest, AFewRoundsAreComparedAsFarAsTheyGo) {
  const Adaptation adaptation = AdaptationOf({10}, 4);
  EXPECT_EQ(adaptation.near_from, std::nullopt);
  EXPECT_EQ(adaptation.near_after_seconds, 0);
  EXPECT_EQ(adaptation.first_rounds, 1u);
  EXPECT_DOUBLE_EQ(adaptation.first_ratio, 2.5);
  EXPECT_DOUBLE_EQ(adaptation.later_ratio, 2.5);
}

}  // namespace
}  // namespace banyan
