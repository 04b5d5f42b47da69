#include "compression/control/round_window.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(RoundWindowTest, KnowsOnlyTheLastRounds) {
  RoundWindow window(3);
  for (double value : {1.0, 9.0, 4.0, 5.0}) window.Add(value);
  EXPECT_EQ(window.size(), 3u);
  EXPECT_EQ(window.oldest(), 9);
  EXPECT_EQ(window.newest(), 5);
  EXPECT_EQ(window.Least(), 4);
  EXPECT_EQ(window.Greatest(), 9);
  EXPECT_DOUBLE_EQ(window.Mean(), 6);
}

TEST(RoundWindowTest, TellsWhenItsLeastLeaves) {
  RoundWindow window(3);
  window.Add(1);
  window.Add(2);
  EXPECT_FALSE(window.LosesLeastNext());  // not full
  window.Add(3);
  EXPECT_TRUE(window.LosesLeastNext());
  window.Add(4);
  EXPECT_TRUE(window.LosesLeastNext());  // 2 is now the least and the oldest
  window.Add(2);
  EXPECT_FALSE(window.LosesLeastNext());
}

TEST(RoundWindowTest, KnowsTheLabelOfItsLeast) {
  RoundWindow window(3);
  window.Add(5, 0.5);
  window.Add(2, 0.2);
  window.Add(4, 0.4);
  EXPECT_EQ(window.LabelOfLeast(), 0.2);
  window.Add(2, 0.3);
  EXPECT_EQ(window.LabelOfLeast(), 0.3);
  window.Add(9, 0.9);
  window.Add(9, 0.9);
  window.Add(8, 0.8);
  EXPECT_EQ(window.LabelOfLeast(), 0.8);
}

TEST(RoundWindowTest, AnEqualNewerValueTakesOver) {
  RoundWindow window(2);
  window.Add(1);
  window.Add(1);
  EXPECT_FALSE(window.LosesLeastNext());
}

}  // namespace
}  // namespace banyan
