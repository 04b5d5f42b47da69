#include "compression/control/delay_adaptive_controller.h"

#include <algorithm>

#include "core/check.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
namespace {

// Of a delay: what rounding may put between a constant delay and its average.
constexpr double kRounding = 1e-9;

RatioControllerKind KindOf(DelayLaw law) {
  switch (law) {
    case DelayLaw::kProportional:
      return RatioControllerKind::kDa1;
    case DelayLaw::kMultiplicative:
      return RatioControllerKind::kDa2;
    case DelayLaw::kAdditive:
      return RatioControllerKind::kDa3;
    case DelayLaw::kGradient:
      return RatioControllerKind::kDa4;
    case DelayLaw::kThresholdsGradient:
      return RatioControllerKind::kDa5;
  }
  BANYAN_CHECK(false);
  return RatioControllerKind::kDa2;
}

}  // namespace

DelayAdaptiveController::DelayAdaptiveController(const Config& config)
    : config_(config), ratio_(config.start_ratio), monitor_(config.window_rounds) {
  BANYAN_CHECK(CheckRatioControllerConfig({.kind = KindOf(config.law), .delay_adaptive = config}).ok());
}

void DelayAdaptiveController::Observe(const RoundObservation& round) {
  const double delay = BoundedSeconds(round.delay);
  if (delay <= 0) return;
  monitor_.Add(delay);
  ratio_ = std::clamp(Next(), config_.least_ratio, config_.greatest_ratio);
}

double DelayAdaptiveController::Next() const {
  switch (config_.law) {
    case Law::kProportional:
      return Proportional();
    case Law::kMultiplicative:
      return WithinVariation(ratio_ / 2);
    case Law::kAdditive:
      return WithinVariation(ratio_ - config_.decrease_step);
    case Law::kGradient:
      return Gradient();
    case Law::kThresholdsGradient:
      return ThresholdsGradient();
  }
  return ratio_;
}

double DelayAdaptiveController::Proportional() const {
  const double above_average = monitor_.delay() - monitor_.average();
  const double above_minimum = monitor_.delay() - monitor_.minimum();
  if (above_minimum <= 0) return above_average < -kRounding * monitor_.delay() ? config_.greatest_ratio : ratio_;
  return ratio_ - above_average / above_minimum;
}

double DelayAdaptiveController::WithinVariation(double lowered) const {
  const double above_average = monitor_.delay() - monitor_.average();
  const double above_minimum = monitor_.delay() - monitor_.minimum();
  const double allowed = config_.delay_variation * above_minimum + kRounding * monitor_.delay();
  if (above_average > allowed) return lowered;
  if (-above_average > allowed) return ratio_ + config_.increase_step;
  return ratio_;
}

double DelayAdaptiveController::Gradient() const {
  const double difference = monitor_.average_difference();
  if (difference < 0) return ratio_ + config_.increase_step;
  return ratio_ * (1 - config_.decrease_factor * difference / monitor_.minimum());
}

double DelayAdaptiveController::ThresholdsGradient() const {
  const double delay = monitor_.delay();
  const double low = config_.delay_slack * monitor_.minimum();
  const double high = config_.delay_slack * monitor_.average();
  if (delay < low) return ratio_ + config_.increase_step;
  if (delay > high) return ratio_ * (1 - config_.decrease_factor * (delay - high) / (delay - low));
  return Gradient();
}

}  // namespace banyan
