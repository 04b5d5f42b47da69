#include "node/trim/trim_method.h"

#include <cmath>

#include "gtest/gtest.h"

namespace banyan {
namespace {

// Rounds until it changes, at most `rounds`.
int RoundsUntil(TrimMethod& method, bool is_light, double cut, int rounds = 100) {
  int round = 0;
  for (; round < rounds && method.is_light() != is_light; ++round) method.Observe(cut);
  return round;
}

TEST(TrimMethodTest, IsLightAsLongAsLittleIsCut) {
  TrimMethod method(0.2);
  EXPECT_TRUE(method.is_light());
  EXPECT_EQ(RoundsUntil(method, false, 0.19), 100);
}

TEST(TrimMethodTest, TransformsWhereMuchIsCut) {
  TrimMethod method(0.2);
  EXPECT_LE(RoundsUntil(method, false, 0.5), 3);
  EXPECT_EQ(RoundsUntil(method, true, 0.15), 100) << "a little less than that is no reason to change back";
  EXPECT_LE(RoundsUntil(method, true, 0), 3);
}

TEST(TrimMethodTest, OneBurstChangesNothing) {
  TrimMethod method(0.3);
  method.Observe(1);
  EXPECT_TRUE(method.is_light());
  EXPECT_EQ(RoundsUntil(method, false, 0), 100);
}

TEST(TrimMethodTest, AtTheBoundItDoesNotSwing) {
  TrimMethod method(0.2);
  int changes = 0;
  for (int round = 0; round < 200; ++round) {
    const bool was_light = method.is_light();
    method.Observe(round % 2 == 0 ? 0.15 : 0.27);
    changes += method.is_light() != was_light ? 1 : 0;
  }
  EXPECT_EQ(changes, 1);
}

TEST(TrimMethodTest, WithoutABoundItIsNeverLight) {
  TrimMethod method(0);
  EXPECT_FALSE(method.is_light());
  EXPECT_EQ(RoundsUntil(method, true, 0), 100);
}

TEST(TrimMethodTest, NonsenseDoesNoHarm) {
  TrimMethod method(0.2);
  for (const double cut : {std::nan(""), -1.0, -HUGE_VAL}) method.Observe(cut);
  EXPECT_TRUE(method.is_light());
  method.Observe(HUGE_VAL);
  EXPECT_LE(RoundsUntil(method, true, 0), 20) << "it counts as all";
}

}  // namespace
}  // namespace banyan
