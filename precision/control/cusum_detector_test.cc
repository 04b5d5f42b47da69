#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "precision/control/loss_trend.h"

namespace banyan {
namespace {

TEST(CusumDetectorTest, AddsUpWhatRisesBeyondTheSlack) {
  CusumDetector detector(1, 5);
  EXPECT_FALSE(detector.Add(3));   // 2
  EXPECT_FALSE(detector.Add(-9));  // 0, not below
  EXPECT_FALSE(detector.Add(4));   // 3
  EXPECT_FALSE(detector.Add(3));   // 5 is not above 5
  EXPECT_TRUE(detector.Add(2));
  EXPECT_EQ(detector.reached(), 6);
  EXPECT_EQ(detector.sum(), 0);
}

TEST(CusumDetectorTest, NeverFiresWithinTheSlack) {
  Random random(1);
  CusumDetector detector(0.5, 0.1);
  for (int i = 0; i < 10000; ++i) EXPECT_FALSE(detector.Add(random.Unit() - 0.5));
}

TEST(CusumDetectorTest, AHigherThresholdNeverFiresEarlier) {
  Random random(2);
  for (int run = 0; run < 100; ++run) {
    CusumDetector low(0.1, 1), high(0.1, 2);
    bool low_has_fired = false;
    for (int i = 0; i < 200; ++i) {
      const double rise = random.Unit() - 0.45;
      const bool high_fires = !low_has_fired && high.Add(rise);
      const bool low_fires = !low_has_fired && low.Add(rise);
      EXPECT_TRUE(low_fires || !high_fires);
      low_has_fired = low_has_fired || low_fires;
    }
  }
}

TEST(CusumDetectorTest, FiresAtOnceForWhatIsNoNumber) {
  for (double bad : {std::nan(""), HUGE_VAL}) {
    CusumDetector detector(1, 1e9);
    EXPECT_TRUE(detector.Add(bad));
    EXPECT_FALSE(detector.Add(0));
  }
}

}  // namespace
}  // namespace banyan
