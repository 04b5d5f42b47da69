#include "precision/control/recovery_length.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

bool IsNoise(const Trigger& trigger, const ControlSettings& settings) {
  return settings.noise_aware && !trigger.is_repeated &&
         trigger.reached - trigger.threshold < settings.near_threshold * trigger.threshold &&
         std::abs(trigger.rise) < settings.small_movement * trigger.slack;
}

int64_t PartOf(double part, int64_t steps) {
  return std::max<int64_t>(1, std::llround(part * static_cast<double>(steps)));
}

}  // namespace

RecoveryLength JudgeTrigger(const Trigger& trigger, const RecoveryProfile& recovery, const ControlSettings& settings) {
  RecoveryLength length{.cooldown_steps = recovery.cooldown_steps, .readmission_steps = recovery.readmission_steps};
  if (IsNoise(trigger, settings)) {
    length.is_noise = true;
    length.cooldown_steps = std::min(settings.short_cooldown_steps, recovery.cooldown_steps);
    length.readmission_steps = 0;
    return length;
  }
  if (settings.cooldown == CooldownRule::kLong && trigger.remaining_steps.has_value()) {
    const int64_t all = trigger.done_steps.value_or(0) + *trigger.remaining_steps;
    length.cooldown_steps = std::max(length.cooldown_steps, PartOf(settings.long_cooldown, all));
  }
  if (trigger.is_repeated) {
    length.cooldown_steps = PartOf(recovery.guard_factor, length.cooldown_steps);
  }
  if (settings.cooldown == CooldownRule::kRunAware && trigger.remaining_steps.has_value()) {
    const int64_t most = PartOf(settings.run_aware_cooldown, *trigger.remaining_steps);
    length.cooldown_steps = std::min(length.cooldown_steps, most);
  }
  return length;
}

}  // namespace banyan
