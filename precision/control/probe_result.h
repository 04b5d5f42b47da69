// What a short low-bit probe after admission says of a run: how much of it may be low-bit, and how long a fallback
// needs to be. Pure function.
#ifndef BANYAN_PRECISION_CONTROL_PROBE_RESULT_H_
#define BANYAN_PRECISION_CONTROL_PROBE_RESULT_H_

#include <cstdint>
#include <optional>

#include "precision/control/detector_scale.h"
#include "precision/profile/control_settings.h"
#include "precision/profile/operating_profile.h"

namespace banyan {

struct ProbeEvidence {
  double mean_rise = 0;  // of the smoothed loss per step of the probe
  double warmup_rise = 0;
  int64_t triggers = 0;  // of the detector
  int64_t steps = 0;
  std::optional<int64_t> remaining_steps = std::nullopt;
};

struct ProbeResult {
  double target = 0;
  double trigger_density = 0;
  int64_t cooldown_steps = 0;
  int64_t readmission_steps = 0;
};

// The target is the profile's bound times the confidence in the warm-up, times (1 - trigger density), over one plus the
// slacks by which the probe rises faster than the warm-up. A cooldown is probe_cooldown of what remains, at most the
// profile's; readmission takes half as long.
ProbeResult JudgeProbe(const ProbeEvidence& evidence, const DetectorScale& scale, const OperatingProfile& profile);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_PROBE_RESULT_H_
