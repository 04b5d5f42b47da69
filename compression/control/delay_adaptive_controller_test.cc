#include "compression/control/delay_adaptive_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "compression/testing/testing_link.h"

namespace banyan {
namespace {

using Law = DelayAdaptiveController::Law;

// The ratio after rounds of these delays in seconds.
double After(const DelayAdaptiveController::Config& config, std::initializer_list<double> delays) {
  DelayAdaptiveController controller(config);
  for (double delay : delays) {
    controller.Observe({.ratio = controller.ratio(), .sent_bytes = 1, .delay = absl::Seconds(delay)});
  }
  return controller.ratio();
}

// The expectations below follow Algorithm 1 by hand. After delays 1, 1, 2: d = 2, m = 1, a = 4/3, r = 1/2.
// After 2, 4, 1.5, 1.75: d = 1.75, m = 1.5, a = 9.25/4 = 2.3125, r = -0.25/3.

TEST(DelayAdaptiveControllerTest, TheFirstRatioIsTheGreatest) {
  EXPECT_EQ(After({}, {}), 0.3);
  EXPECT_EQ(After({.start_ratio = 0.1}, {}), 0.1);
}

TEST(DelayAdaptiveControllerTest, Da1FollowsTheNormalizedDistanceFromTheAverage) {
  const DelayAdaptiveController::Config config = {.law = Law::kProportional, .greatest_ratio = 1, .start_ratio = 0.9};
  EXPECT_NEAR(After(config, {1, 1, 2}), 0.9 - (2.0 / 3) / 1, 1e-9);
  // (1.75 - 2.3125) / (1.75 - 1.5) = -2.25: to the greatest. A start below shows the rise.
  EXPECT_EQ(After(config, {2, 4, 1.5, 1.75}), 1);
}

TEST(DelayAdaptiveControllerTest, Da1TakesTheLimitWhereTheDelayIsTheMinimum) {
  const DelayAdaptiveController::Config config = {.law = Law::kProportional, .start_ratio = 0.1};
  EXPECT_EQ(After(config, {1}), 0.1);
  EXPECT_EQ(After(config, {1, 1}), 0.1);
  EXPECT_EQ(After(config, {2, 1}), 0.3);
}

TEST(DelayAdaptiveControllerTest, Da2HalvesAboveTheAverageAndAddsBelow) {
  const DelayAdaptiveController::Config config = {.law = Law::kMultiplicative, .start_ratio = 0.2};
  EXPECT_NEAR(After(config, {1, 1, 2}), 0.1, 1e-9);  // (2 - 4/3) / 1 > 0.05
  // The second is above the average, the third and the fourth below it.
  EXPECT_NEAR(After(config, {2, 4, 1.5, 1.75}), 0.2 / 2 + 0.005 + 0.005, 1e-9);
}

TEST(DelayAdaptiveControllerTest, Da2LeavesTheRatioNearTheAverage) {
  const DelayAdaptiveController::Config config = {.law = Law::kMultiplicative, .start_ratio = 0.2};
  // + 0.005 for 1 below 2; then a = 1.5 and (1.5 - 1.5) / 0.5 = 0; then a = 1.505 and (1.52 - 1.505) / 0.52 = 0.029.
  EXPECT_NEAR(After(config, {2, 1, 1.5, 1.52}), 0.205, 1e-9);
  // a = 1.525 and (1.6 - 1.525) / 0.6 = 0.125.
  EXPECT_NEAR(After(config, {2, 1, 1.5, 1.6}), 0.1025, 1e-9);
}

TEST(DelayAdaptiveControllerTest, Da3SubtractsInstead) {
  const DelayAdaptiveController::Config config = {.law = Law::kAdditive, .start_ratio = 0.2};
  EXPECT_NEAR(After(config, {1, 1, 2}), 0.195, 1e-9);
  EXPECT_NEAR(After(config, {2, 4, 1.5, 1.75}), 0.2 - 0.005 + 0.005 + 0.005, 1e-9);
  EXPECT_NEAR(After({.law = Law::kAdditive, .decrease_step = 0.02, .start_ratio = 0.2}, {1, 1, 2}), 0.18, 1e-9);
}

TEST(DelayAdaptiveControllerTest, Da4FollowsTheNormalizedGradient) {
  const DelayAdaptiveController::Config config = {.law = Law::kGradient, .start_ratio = 0.2};
  EXPECT_NEAR(After(config, {1, 1, 2}), 0.2 * (1 - 0.8 * 0.5 / 1), 1e-9);
  // r / m of the rounds: 0, 2 / 2, -0.25 / 1.5 (below 0), -0.25 / 3 / 1.5 (below 0).
  EXPECT_NEAR(After(config, {2, 4, 1.5, 1.75}), 0.2 * (1 - 0.8) + 0.005 + 0.005, 1e-9);
}

TEST(DelayAdaptiveControllerTest, Da5AddsBelowTheLowThreshold) {
  const DelayAdaptiveController::Config config = {.law = Law::kThresholdsGradient, .start_ratio = 0.1};
  EXPECT_NEAR(After(config, {1}), 0.105, 1e-9);
  EXPECT_NEAR(After(config, {1, 1.24}), 0.11, 1e-9);  // although the gradient is positive
}

TEST(DelayAdaptiveControllerTest, Da5FallsAboveTheHighThreshold) {
  const DelayAdaptiveController::Config config = {.law = Law::kThresholdsGradient, .start_ratio = 0.1};
  // Twice + 0.005. Then 1.25 a = 5/3 and 1.25 m = 1.25: (2 - 5/3) / (2 - 1.25) = 4/9.
  EXPECT_NEAR(After(config, {1, 1, 2}), 0.11 * (1 - 0.8 * 4 / 9), 1e-9);
}

TEST(DelayAdaptiveControllerTest, Da5FollowsTheGradientBetweenThem) {
  const DelayAdaptiveController::Config config = {.law = Law::kThresholdsGradient, .start_ratio = 0.1};
  // + 0.005. Then a = 1.15, 1.25 a = 1.4375 > 1.3 > 1.25 m, and r = 0.3.
  EXPECT_NEAR(After(config, {1, 1.3}), 0.105 * (1 - 0.8 * 0.3), 1e-9);
  // Then a = 3.59 / 3, 1.25 a = 1.4958 > 1.29, and r = 0.145.
  EXPECT_NEAR(After(config, {1, 1.3, 1.29}), 0.105 * 0.76 * (1 - 0.8 * 0.145), 1e-9);
  // A window of one: r = -0.01, so + 0.005; before it a = d = 1.3 and r = 0.3 as above.
  EXPECT_NEAR(After({.law = Law::kThresholdsGradient, .start_ratio = 0.1, .window_rounds = 1}, {1, 1.3, 1.29}),
              0.105 * 0.76 + 0.005, 1e-9);
}

TEST(DelayAdaptiveControllerTest, StaysWithinItsBounds) {
  for (Law law : {Law::kProportional, Law::kMultiplicative, Law::kAdditive, Law::kGradient, Law::kThresholdsGradient}) {
    const DelayAdaptiveController::Config config = {.law = law, .start_ratio = 0.01};
    EXPECT_EQ(After(config, {1, 1, 100, 200, 400, 800, 1600}), 0.005);
    DelayAdaptiveController controller({.law = law});
    for (int i = 0; i < 100; ++i) controller.Observe({.delay = absl::Seconds(100 - i)});
    EXPECT_EQ(controller.ratio(), 0.3);
  }
}

// Fifty times a tenth is not five in floating point.
TEST(DelayAdaptiveControllerTest, RoundingIsNoDelay) {
  for (Law law : {Law::kProportional, Law::kMultiplicative, Law::kAdditive, Law::kGradient}) {
    for (int milliseconds : {1, 7, 100, 333}) {
      DelayAdaptiveController controller({.law = law, .start_ratio = 0.2});
      for (int i = 0; i < 200; ++i) controller.Observe({.delay = absl::Milliseconds(milliseconds)});
      EXPECT_EQ(controller.ratio(), 0.2) << static_cast<int>(law) << " " << milliseconds;
    }
  }
}

TEST(DelayAdaptiveControllerTest, ADelayOfZeroIsNoRound) {
  EXPECT_EQ(After({.law = Law::kMultiplicative, .start_ratio = 0.2}, {1, 1, 0, 0}), 0.2);
  EXPECT_NEAR(After({.law = Law::kGradient, .start_ratio = 0.2}, {1, 0, 1, 2}), 0.2 * (1 - 0.8 * 0.5), 1e-9);
}

// What each does when the network becomes ten times slower. Those that the paper recommends compress more.
TEST(DelayAdaptiveControllerTest, ADropLowersTheRatio) {
  for (Law law : {Law::kMultiplicative, Law::kAdditive, Law::kGradient, Law::kThresholdsGradient}) {
    TestingLink link({.rate_bps = 500e6, .jitter = 0.05});
    DelayAdaptiveController controller({.law = law});
    link.Run(controller, 100);
    const double before = controller.ratio();
    link.set_rate_bps(50e6);
    double least = before;
    for (int i = 0; i < 20; ++i) {
      link.Run(controller, 1);
      least = std::min(least, controller.ratio());
    }
    EXPECT_LT(least, law == Law::kAdditive ? before : 0.75 * before) << static_cast<int>(law);
  }
}

}  // namespace
}  // namespace banyan
