#include "compression/control/budget_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compression/testing/testing_link.h"

namespace banyan {
namespace {

std::vector<double> Seconds(const std::vector<RoundObservation>& rounds) {
  std::vector<double> seconds;
  for (const RoundObservation& round : rounds) seconds.push_back(absl::ToDoubleSeconds(round.duration));
  return seconds;
}

TEST(BudgetControllerTest, ScalesWithTheTimeThatIsLeft) {
  BudgetController controller({.budget = absl::Milliseconds(500)});
  EXPECT_EQ(controller.ratio(), 0.01);
  // 0.1 per second: 0.05 in half a second.
  controller.Observe({.ratio = 0.01, .sent_bytes = 100'000, .duration = absl::Milliseconds(100)});
  EXPECT_DOUBLE_EQ(controller.ratio(), 0.05);
  // Slower counts at once: 0.025 per second.
  controller.Observe({.ratio = 0.05, .sent_bytes = 500'000, .duration = absl::Seconds(2)});
  EXPECT_DOUBLE_EQ(controller.ratio(), 0.0125);
  // Faster counts by half: 0.0625 per second make it 0.04375.
  controller.Observe({.ratio = 0.0125, .sent_bytes = 150'000, .duration = absl::Milliseconds(200)});
  EXPECT_DOUBLE_EQ(controller.ratio(), 0.021875);
}

TEST(BudgetControllerTest, ALinkTakesItsPartOfTheRound) {
  BudgetController controller({.budget = absl::Milliseconds(500)});
  RoundObservation round = {.ratio = 0.01, .sent_bytes = 100'000, .duration = absl::Milliseconds(100)};
  round.budget_share = 0.25;
  controller.Observe(round);
  EXPECT_DOUBLE_EQ(controller.ratio(), 0.0125);
  for (double senseless : {0.0, -1.0, 1.5}) {
    round.budget_share = senseless;
    controller.Observe(round);
    EXPECT_DOUBLE_EQ(controller.ratio(), 0.0125);
  }
}

TEST(BudgetControllerTest, MeetsTheBudgetFromOneSideWithoutSwinging) {
  for (double rate_bps : {20e6, 200e6, 800e6}) {
    for (int round_trip_ms : {1, 30, 150}) {
      TestingLink link({.rate_bps = rate_bps, .round_trip = absl::Milliseconds(round_trip_ms)});
      BudgetController controller({.budget = absl::Milliseconds(300)});
      const std::vector<double> seconds = Seconds(link.Run(controller, 40));
      for (size_t i = 1; i < seconds.size(); ++i) {
        const double before = seconds[i - 1] - 0.3;
        const double here = seconds[i] - 0.3;
        EXPECT_LE(std::abs(here), std::abs(before) + 1e-6) << i;
        EXPECT_GE(here * before, -1e-9) << i;
      }
      EXPECT_NEAR(seconds.back(), 0.3, 0.003) << rate_bps << " " << round_trip_ms;
      // The ratio that meets it, by hand: (budget - round trip) * rate / model.
      const double expected = (0.3 - round_trip_ms * 1e-3) * rate_bps / 8 / 46.2e6;
      EXPECT_NEAR(controller.ratio(), expected, 0.02 * expected);
    }
  }
}

TEST(BudgetControllerTest, ADropIsAnsweredAtOnceAndRecoveryFollows) {
  TestingLink link({.rate_bps = 500e6});
  BudgetController controller({.budget = absl::Milliseconds(400)});
  link.Run(controller, 20);
  const double before = controller.ratio();
  link.set_rate_bps(50e6);
  link.Run(controller, 3);
  const std::vector<double> after = Seconds(link.Run(controller, 20));
  EXPECT_LE(*std::max_element(after.begin(), after.end()), 1.05 * 0.4);
  EXPECT_NEAR(controller.ratio(), before / 10, 0.02 * before / 10);
  link.set_rate_bps(500e6);
  link.Run(controller, 12);
  EXPECT_NEAR(controller.ratio(), before, 0.02 * before);
}

TEST(BudgetControllerTest, NoiseIsEvenedOut) {
  TestingLink link({.rate_bps = 200e6, .jitter = 0.1, .size_noise = 0.05});
  BudgetController controller({.budget = absl::Milliseconds(300)});
  link.Run(controller, 20);
  std::vector<double> seconds = Seconds(link.Run(controller, 200));
  std::sort(seconds.begin(), seconds.end());
  EXPECT_LE(seconds[100], 1.01 * 0.3);
  EXPECT_LE(seconds[180], 1.06 * 0.3);
  EXPECT_LE(seconds.back(), 1.15 * 0.3);
  EXPECT_GE(seconds.front(), 0.8 * 0.3);
}

TEST(BudgetControllerTest, WhatCannotBeMetGetsTheLeastRatio) {
  TestingLink link({.round_trip = absl::Milliseconds(200)});
  BudgetController controller({.budget = absl::Milliseconds(100)});
  link.Run(controller, 20);
  EXPECT_EQ(controller.ratio(), 0.005);
}

TEST(BudgetControllerTest, NothingIsCompressedThatFits) {
  TestingLink link({.model_bytes = 1'000'000});
  BudgetController controller({.budget = absl::Milliseconds(100)});
  link.Run(controller, 20);
  EXPECT_EQ(controller.ratio(), 1);
}

}  // namespace
}  // namespace banyan
