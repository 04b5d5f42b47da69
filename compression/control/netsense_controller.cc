#include "compression/control/netsense_controller.h"

#include <algorithm>

#include "core/check.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {
NetSenseController::NetSenseController(const Config& config)
    : config_(config),
      ratio_(config.start_ratio),
      effective_bandwidths_(config.bandwidth_rounds),
      round_trips_(config.propagation_rounds) {
  BANYAN_CHECK(CheckRatioControllerConfig({.kind = RatioControllerKind::kNetSense, .netsense = config}).ok());
}

void NetSenseController::Observe(const RoundObservation& round) {
  const double round_trip = BoundedSeconds(round.duration);
  if (round.sent_bytes <= 0 || round_trip <= 0 || !(round.ratio > 0)) return;
  round_trips_.Add(round_trip, round.ratio);
  effective_bandwidths_.Add(static_cast<double>(round.sent_bytes) / round_trip);
  const bool has_drained = is_draining_;
  is_starting_up_ = is_starting_up_ && RampsOn(round, round_trip);
  if (is_starting_up_) {
    ratio_ = std::min(config_.greatest_ratio, ratio_ + config_.start_step);
  } else if (!has_drained) {
    Adjust(round, round_trip);
  }
  // Not twice in a row: where the drained round took longer than the least, the window moves on to it.
  is_draining_ = !is_starting_up_ && !has_drained && round_trips_.LosesLeastNext();
}

bool NetSenseController::RampsOn(const RoundObservation& round, double round_trip) {
  return !round.lost && ratio_ < config_.greatest_ratio &&
         round_trip <= config_.excessive_delay * propagation_seconds();
}

void NetSenseController::Adjust(const RoundObservation& round, double round_trip) {
  const double propagation = propagation_seconds();
  const double bandwidth_delay = bottleneck_bandwidth() * propagation;
  const bool exceeds_estimate = static_cast<double>(round.sent_bytes) > config_.bdp_share * bandwidth_delay;
  if (exceeds_estimate && round_trip > (1 + config_.bdp_share) * propagation) {
    ratio_ = std::max(config_.least_ratio, ratio_ * config_.decrease_factor);
    return;
  }
  const double raised = std::min(ratio_ + config_.increase_step, RatioThatFits(round, round_trip));
  ratio_ = std::min(config_.greatest_ratio, std::max(ratio_, raised));
}

double NetSenseController::RatioThatFits(const RoundObservation& round, double round_trip) const {
  const double propagation = propagation_seconds();
  const double sending = round_trip - propagation;
  if (sending <= 0) return config_.greatest_ratio;
  const double factor = config_.fill_share * propagation / sending;
  // What the least round trip was measured with is part of it, and does not add to it.
  const double least = round_trips_.LabelOfLeast();
  return round.ratio > least ? least + (round.ratio - least) * factor : round.ratio * factor;
}

}  // namespace banyan
