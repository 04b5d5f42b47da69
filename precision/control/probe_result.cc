#include "precision/control/probe_result.h"

#include <algorithm>
#include <cmath>

namespace banyan {

ProbeResult JudgeProbe(const ProbeEvidence& evidence, const DetectorScale& scale, const OperatingProfile& profile) {
  const ControlSettings& settings = profile.controls;
  ProbeResult result;
  result.trigger_density =
      std::min(1.0, static_cast<double>(evidence.triggers) / static_cast<double>(std::max<int64_t>(evidence.steps, 1)));
  const double faster = std::max(0.0, evidence.mean_rise - evidence.warmup_rise);
  const double slacks = faster == 0 ? 0 : scale.slack > 0 ? faster / scale.slack : HUGE_VAL;
  const double target = profile.exposure.bound * scale.confidence * (1 - result.trigger_density) / (1 + slacks);
  result.target = std::clamp(target, std::min(settings.least_target, profile.exposure.bound), profile.exposure.bound);
  result.cooldown_steps = profile.recovery.cooldown_steps;
  if (evidence.remaining_steps.has_value()) {
    const double part = settings.probe_cooldown * static_cast<double>(*evidence.remaining_steps);
    result.cooldown_steps = std::min(result.cooldown_steps, std::max<int64_t>(1, std::llround(part)));
  }
  result.readmission_steps = std::min(profile.recovery.readmission_steps, (result.cooldown_steps + 1) / 2);
  return result;
}

}  // namespace banyan
