#include "compression/control/budget_controller.h"

#include <algorithm>

#include "core/check.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
BudgetController::BudgetController(const Config& config) : config_(config), ratio_(config.start_ratio) {
  BANYAN_CHECK(CheckRatioControllerConfig({.kind = RatioControllerKind::kBudget, .budget = config}).ok());
}

void BudgetController::Observe(const RoundObservation& round) {
  const double seconds = BoundedSeconds(round.duration);
  if (round.sent_bytes <= 0 || seconds <= 0 || !(round.ratio > 0)) return;
  if (!(round.budget_share > 0 && round.budget_share <= 1)) return;
  const double newest = round.ratio / seconds;
  const bool averages = ratio_per_second_ > 0 && newest > ratio_per_second_;
  ratio_per_second_ += (newest - ratio_per_second_) * (averages ? config_.rise_weight : 1);
  ratio_ = std::clamp(ratio_per_second_ * absl::ToDoubleSeconds(config_.budget) * round.budget_share,
                      config_.least_ratio, config_.greatest_ratio);
}

}  // namespace banyan
