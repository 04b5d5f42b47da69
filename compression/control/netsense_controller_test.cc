#include "compression/control/netsense_controller.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

class NetSenseControllerTest : public ::testing::Test {
 protected:
  // A round with the controller's own ratio.
  void Round(int64_t sent_bytes, int milliseconds, bool lost = false) {
    controller_.Observe({.ratio = controller_.ratio(),
                         .sent_bytes = sent_bytes,
                         .duration = absl::Milliseconds(milliseconds),
                         .lost = lost});
  }
  // RTprop 100 ms and BtlBw 500 kB/s, so BDP 50 kB; the ramp has reached 0.11 and is over.
  void RampUp() {
    Round(10'000, 100);
    Round(60'000, 150);
    Round(110'000, 220);
  }

  NetSenseController controller_{{}};
};

TEST_F(NetSenseControllerTest, RampsUpUntilTheDelayIsTwiceThePropagation) {
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.01);
  Round(10'000, 100);  // EBB 100 kB/s
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.06);
  Round(60'000, 150);  // EBB 400 kB/s
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.11);
  EXPECT_TRUE(controller_.is_starting_up());
  EXPECT_DOUBLE_EQ(controller_.bottleneck_bandwidth(), 400e3);
  Round(110'000, 220);  // EBB 500 kB/s, BDP 50 kB
  EXPECT_FALSE(controller_.is_starting_up());
  EXPECT_DOUBLE_EQ(controller_.bottleneck_bandwidth(), 500e3);
  EXPECT_DOUBLE_EQ(controller_.propagation_seconds(), 0.1);
  // Equation 3: 110 kB are more than 0.9 * 50 kB.
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.055);
}

TEST_F(NetSenseControllerTest, ALossEndsTheRamp) {
  Round(10'000, 100);
  Round(60'000, 110, true);
  EXPECT_FALSE(controller_.is_starting_up());
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.07);  // by beta, no longer by the ramp's step
}

TEST_F(NetSenseControllerTest, TheRampEndsAtOne) {
  for (int i = 0; i < 20; ++i) Round(10'000, 100);
  EXPECT_EQ(controller_.ratio(), 1);
  EXPECT_TRUE(controller_.is_starting_up());
  Round(10'000, 100);
  EXPECT_FALSE(controller_.is_starting_up());
  EXPECT_EQ(controller_.ratio(), 1);
}

// 55 kB are above 0.9 BDP as equation 2 has it, but 140 ms tell that they fit.
TEST_F(NetSenseControllerTest, RaisesByBetaWhenTheRoundTripTimeTellsThatTheDataFits) {
  RampUp();
  Round(55'000, 140);
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.065);
}

// The 100 ms were measured at a ratio of 0.01. The 0.055 beyond it took 70 ms longer, so 80 ms are for 0.055 * 80 / 70.
TEST_F(NetSenseControllerTest, ARaiseStopsWhereTheDataWouldFillTheProduct) {
  RampUp();
  Round(55'000, 140);
  Round(65'000, 170);
  EXPECT_NEAR(controller_.ratio(), 0.01 + 0.055 * 80 / 70, 1e-12);
  const double settled = controller_.ratio();
  Round(72'857, 180);
  EXPECT_DOUBLE_EQ(controller_.ratio(), settled);
  Round(72'857, 189);  // between 0.8 and 0.9
  EXPECT_DOUBLE_EQ(controller_.ratio(), settled);
  Round(72'857, 191);
  EXPECT_DOUBLE_EQ(controller_.ratio(), settled / 2);
}

// A long round after which the greatest EBB of the window still says that the data fits: 0.9 * 500 kB/s * 100 ms.
TEST_F(NetSenseControllerTest, TheWindowsGreatestBandwidthForgivesOneSlowRound) {
  RampUp();
  Round(44'000, 400);
  EXPECT_GT(controller_.ratio(), 0.05);
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.055);  // and the round's own time allows no raise
  Round(46'000, 400);
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.0275);
}

TEST_F(NetSenseControllerTest, BandwidthIsForgottenAfterThreeRounds) {
  RampUp();
  Round(44'000, 400);
  Round(44'000, 400);
  EXPECT_DOUBLE_EQ(controller_.bottleneck_bandwidth(), 500e3);
  Round(44'000, 400);
  EXPECT_DOUBLE_EQ(controller_.bottleneck_bandwidth(), 110e3);
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.0275);
}

TEST_F(NetSenseControllerTest, NeverBelowTheLeast) {
  RampUp();
  for (int i = 0; i < 10; ++i) Round(100'000, 1000);
  EXPECT_EQ(controller_.ratio(), 0.005);
}

TEST_F(NetSenseControllerTest, OneRoundIsSentSmallBeforeThePropagationTimeIsForgotten) {
  controller_ = NetSenseController({.propagation_rounds = 5});
  RampUp();
  Round(55'000, 160);
  const double before = controller_.ratio();
  Round(55'000, 160);  // the fifth: the first's 100 ms leave the window next
  EXPECT_EQ(controller_.ratio(), 0.005);
  Round(5'000, 120);
  EXPECT_GE(controller_.ratio(), before);
  EXPECT_DOUBLE_EQ(controller_.propagation_seconds(), 0.12);
  // The next in the window is the drained round itself, which lasts for four more.
  for (int i = 0; i < 3; ++i) {
    Round(65'000, 200);
    EXPECT_GE(controller_.ratio(), before);
  }
  Round(65'000, 200);
  EXPECT_EQ(controller_.ratio(), 0.005);
}

TEST_F(NetSenseControllerTest, RoundsWithoutBytesOrTimeTellNothing) {
  RampUp();
  Round(0, 100);
  Round(10'000, 0);
  Round(-5, -5);
  EXPECT_DOUBLE_EQ(controller_.ratio(), 0.055);
  EXPECT_DOUBLE_EQ(controller_.propagation_seconds(), 0.1);
}

}  // namespace
}  // namespace banyan
