#include <gtest/gtest.h>

#include "precision/control/supervisor.h"

namespace banyan {
namespace {

ControlSettings Settings() {
  ControlSettings settings = *NamedControls("smoothed-budget");
  settings.window_steps = 10;
  settings.grow_step = 0.04;
  settings.shrink_step = 0.06;
  settings.target_smoothing = 1;
  return settings;
}

struct Window {
  double part = 0.1;  // of the threshold
  double rise = -0.01;
  bool fired = false;
  bool is_over = false;
  double progress = 0.1;
  double learning_rate = 1;
};

double After(BudgetWindows& windows, const Window& window, double target) {
  for (int step = 0; step < 10; ++step) {
    const TrainingHealth health{step, 1, window.progress, window.learning_rate, std::nullopt};
    target = windows.Step(health, window.part, window.rise, window.fired && step == 4, window.is_over, target);
  }
  return target;
}

TEST(BudgetWindowsTest, GrowsAfterAHealthyWindowAndShrinksAfterATrigger) {
  BudgetWindows windows(Settings(), 0.4);
  EXPECT_NEAR(After(windows, {}, 0.2), 0.24, 1e-12);
  EXPECT_NEAR(After(windows, {.fired = true}, 0.2), 0.14, 1e-12);
  EXPECT_NEAR(After(windows, {.is_over = true}, 0.2), 0.14, 1e-12);
  EXPECT_NEAR(After(windows, {.part = 0.9}, 0.2), 0.2, 1e-12);   // near the threshold: neither
  EXPECT_NEAR(After(windows, {.rise = 0.01}, 0.2), 0.2, 1e-12);  // the loss rose
  EXPECT_EQ(windows.updates(), 3);
}

TEST(BudgetWindowsTest, StaysWithinItsBounds) {
  BudgetWindows windows(Settings(), 0.4);
  EXPECT_EQ(After(windows, {}, 0.39), 0.4);
  EXPECT_EQ(After(windows, {.fired = true}, 0.03), Settings().least_target);
}

TEST(BudgetWindowsTest, SmoothingTakesAPartOfTheProposal) {
  ControlSettings settings = Settings();
  settings.target_smoothing = 0.5;
  BudgetWindows windows(settings, 0.4);
  EXPECT_NEAR(After(windows, {}, 0.2), 0.22, 1e-12);
}

TEST(BudgetWindowsTest, GrowthAloneNeverShrinks) {
  ControlSettings settings = Settings();
  settings.may_shrink = false;
  BudgetWindows windows(settings, 0.4);
  EXPECT_EQ(After(windows, {.fired = true}, 0.2), 0.2);
}

TEST(BudgetWindowsTest, TheLatePhaseGrowsOnlyWhenQuiet) {
  ControlSettings settings = Settings();
  settings.late_guard = true;
  for (const bool by_rate : {false, true}) {
    BudgetWindows windows(settings, 0.4);
    const double progress = by_rate ? 0.1 : 0.7;
    const double rate = by_rate ? 0.1 : 1;
    const Window quiet{.part = 0.2, .progress = progress, .learning_rate = rate};
    const Window lively{.part = 0.3, .progress = progress, .learning_rate = rate};
    EXPECT_NEAR(After(windows, quiet, 0.2), 0.24, 1e-12);
    EXPECT_NEAR(After(windows, lively, 0.2), 0.2, 1e-12);
    EXPECT_EQ(windows.late_guard_events(), 1);
    Window restless = lively;
    restless.part = 0.6;
    EXPECT_NEAR(After(windows, restless, 0.2), 0.14, 1e-12);
    EXPECT_EQ(windows.late_guard_events(), 2);
  }
}

TEST(BudgetWindowsTest, LearnsItsReferenceFromHealthyWindows) {
  ControlSettings settings = Settings();
  settings.late_guard = true;
  settings.learned_reference = true;
  BudgetWindows windows(settings, 0.4);
  EXPECT_EQ(windows.reference(), settings.late_reference);
  After(windows, {.part = 0.3}, 0.2);
  After(windows, {.part = 0.4}, 0.2);
  EXPECT_NEAR(windows.reference(), 0.35, 1e-12);
  // What the constant reference forbids, this run's own allows.
  EXPECT_NEAR(After(windows, {.part = 0.3, .progress = 0.9}, 0.2), 0.24, 1e-12);
}

}  // namespace
}  // namespace banyan
