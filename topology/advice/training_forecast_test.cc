#include "topology/advice/training_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "topology/evaluation/round_time.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr int64_t kModelElements = 8 << 20;  // eight groups of gradients

class TrainingForecastTest : public ::testing::Test {
 protected:
  TrainingForecast Forecast(absl::Duration step, double sent_part = 1) const {
    return {view_, policy_, {kModelElements}, config_.chunk_min_elements, sent_part, step};
  }

  static PlannerConfig Config() {
    PlannerConfig config;
    config.tensors = {kModelElements};
    return config;
  }

  const NetworkView view_ = Internet2Network();
  const PlannerConfig config_ = Config();
  const Policy policy_ = *MakePolicy(view_, config_);
};

TEST_F(TrainingForecastTest, DiLoCoWaitsForARoundAfterItsSteps) {
  const TrainingForecast forecast = Forecast(absl::Seconds(1));
  const double round_s = absl::ToDoubleSeconds(forecast.round_time());
  EXPECT_NEAR(round_s, absl::ToDoubleSeconds(policy_.round_time), 0.1 * round_s);
  const double waited_s = 8 / forecast.Utilisation(SyncMethod::kDiLoCo, 8) - 8;
  EXPECT_GT(waited_s, round_s);
  EXPECT_LT(waited_s, 1.1 * round_s) << "the trainer's own work is little";
  const std::optional<int64_t> steps = forecast.FewestSteps(SyncMethod::kDiLoCo, 0.95);
  ASSERT_TRUE(steps.has_value());
  EXPECT_EQ(*steps, std::ceil(19 * waited_s));
  EXPECT_LT(forecast.Utilisation(SyncMethod::kDiLoCo, *steps - 1), 0.95);
}

TEST_F(TrainingForecastTest, StreamingHidesARoundBehindAboutAsManySteps) {
  const TrainingForecast forecast = Forecast(absl::Milliseconds(100));
  const double round_steps = absl::FDivDuration(forecast.round_time(), absl::Milliseconds(100));
  const std::optional<int64_t> steps = forecast.FewestSteps(SyncMethod::kStreaming, 0.95);
  ASSERT_TRUE(steps.has_value());
  EXPECT_GT(static_cast<double>(*steps), 0.9 * round_steps) << "links carry no more";
  EXPECT_LT(static_cast<double>(*steps), 1.2 * round_steps + 2 * kStreamingFragments);
  EXPECT_EQ(forecast.Utilisation(SyncMethod::kStreaming, 1), forecast.Utilisation(SyncMethod::kDiLoCo, 1));
}

TEST_F(TrainingForecastTest, AttachSendsGradientsDuringBackward) {
  // As long as a round: two thirds of the step less the first group's part hide as much of the round.
  const absl::Duration round = Forecast(absl::Seconds(1)).round_time();
  EXPECT_NEAR(Forecast(round).Utilisation(SyncMethod::kAttach, 1), 1 / (1 + 1.0 / 3 + 2.0 / 3 / 8), 0.01);
  EXPECT_GT(Forecast(100 * round).Utilisation(SyncMethod::kAttach, 1), 0.99);
  EXPECT_FALSE(Forecast(round).FewestSteps(SyncMethod::kAttach, 0.95).has_value());
  EXPECT_EQ(Forecast(100 * round).FewestSteps(SyncMethod::kAttach, 0.95), 1);
}

TEST_F(TrainingForecastTest, CodecsShortenRounds) {
  EXPECT_LT(Forecast(absl::Seconds(1), 0.125).round_time(), 0.3 * Forecast(absl::Seconds(1)).round_time());
}

}  // namespace
}  // namespace banyan
