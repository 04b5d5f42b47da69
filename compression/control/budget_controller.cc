#include "compression/control/budget_controller.h"

#include <algorithm>

#include "compression/control/config_check.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr double kLeastBudgetSeconds = 1e-3;
constexpr double kGreatestBudgetSeconds = 3600;

}  // namespace

absl::Status BudgetController::Check(const Config& config) {
  const double budget_seconds = absl::ToDoubleSeconds(config.budget);
  return CheckRanges("budget", {{"seconds", budget_seconds, kLeastBudgetSeconds, kGreatestBudgetSeconds},
                                {"least_ratio", config.least_ratio, kLeastRatio, 1},
                                {"greatest_ratio", config.greatest_ratio, config.least_ratio, 1},
                                {"start_ratio", config.start_ratio, config.least_ratio, config.greatest_ratio},
                                {"rise_weight", config.rise_weight, 0.01, 1}});
}

BudgetController::BudgetController(const Config& config) : config_(config), ratio_(config.start_ratio) {
  BANYAN_CHECK(Check(config).ok());
}

void BudgetController::Observe(const RoundObservation& round) {
  const double seconds = BoundedSeconds(round.duration);
  if (round.sent_bytes <= 0 || seconds <= 0 || !(round.ratio > 0)) return;
  const double newest = round.ratio / seconds;
  const bool averages = ratio_per_second_ > 0 && newest > ratio_per_second_;
  ratio_per_second_ += (newest - ratio_per_second_) * (averages ? config_.rise_weight : 1);
  ratio_ = std::clamp(ratio_per_second_ * absl::ToDoubleSeconds(config_.budget), config_.least_ratio,
                      config_.greatest_ratio);
}

}  // namespace banyan
