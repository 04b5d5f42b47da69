// How long a run stays at FP32 after the detector fired. Pure function.
#ifndef BANYAN_PRECISION_CONTROL_RECOVERY_LENGTH_H_
#define BANYAN_PRECISION_CONTROL_RECOVERY_LENGTH_H_

#include <cstdint>
#include <optional>

#include "precision/profile/control_settings.h"
#include "precision/profile/operating_profile.h"

namespace banyan {

struct Trigger {
  double reached = 0;    // the detector's sum
  double threshold = 0;  // which it went beyond
  double slack = 0;
  double rise = 0;           // of the smoothed loss in this step
  bool is_repeated = false;  // soon after a readmission
  std::optional<int64_t> done_steps = std::nullopt;
  std::optional<int64_t> remaining_steps = std::nullopt;
};

struct RecoveryLength {
  int64_t cooldown_steps = 0;
  int64_t readmission_steps = 0;
  bool is_noise = false;  // the trigger was taken for noise: a short recovery
};

// `recovery` has the numbers that hold now: a probe may have shortened the profile's. A trigger near the threshold with
// a small movement is noise where settings.noise_aware; a repeated one lasts guard_factor times as long.
RecoveryLength JudgeTrigger(const Trigger& trigger, const RecoveryProfile& recovery, const ControlSettings& settings);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_RECOVERY_LENGTH_H_
