// Which of the online controls of NEURON-Fabric (Wang, Huang and Lung, 2026, Table 5) a run uses, and their numbers.
// Each controller of that paper's Tables 6, 11 and 12 is a setting with a name, so that a study can walk the ladder.
// The first two rows of Table 11 are one controller on a short and on a long run. The paper names the rows and leaves
// most numbers open; those here are ours. Plain values.
#ifndef BANYAN_PRECISION_PROFILE_CONTROL_SETTINGS_H_
#define BANYAN_PRECISION_PROFILE_CONTROL_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace banyan {

// Where the detector's slack and threshold come from: the profile, the run's own warm-up, or the warm-up within a trust
// region around the profile.
enum class DetectorSource : uint8_t { kProfile, kWarmup, kTrustRegion };

struct ControlSettings {
  std::string name = "calibrated";
  bool low_bit = true;  // false: FP32 throughout
  bool warmup = true;   // false: every eligible slice is low-bit from the first step
  bool veto = true;     // false: the Supervisor watches and never withdraws

  DetectorSource detector = DetectorSource::kProfile;
  double trust_radius = 0.5;       // slack and threshold grow by at most this part of the profile's
  double least_tightening = 0.25;  // and shrink to at least this part
  int64_t confident_steps = 50;    // of warm-up, from which on its statistics are believed whole

  bool budget = true;        // no more low-bit rounds than the target share
  bool auto_target = false;  // the target is found from the warm-up; else it is the profile's bound
  double auto_part = 0.2;    // of the bound, with full confidence
  double least_target = 0.02;

  bool adaptive_windows = false;
  bool may_grow = true;
  bool may_shrink = true;
  int64_t window_steps = 20;
  double grow_step = 0.04;
  double shrink_step = 0.06;
  double target_smoothing = 1;  // weight of the newest proposal; 1 takes it as it is
  double healthy_part = 0.5;    // a window is healthy below this part of the threshold

  bool late_guard = false;
  double late_progress = 0.6;        // the late phase begins here
  double late_learning_rate = 0.25;  // or where the learning rate has fallen to this part
  double late_ratio = 1;             // growth needs a window at most so many times the reference
  double late_reference = 0.25;      // part of the threshold; learned from healthy windows where the next says so
  bool learned_reference = false;

  bool is_run_aware = false;  // a cooldown takes at most this part of what remains; else what the profile says
  double run_aware_cooldown = 0.1;

  bool probe = false;  // target, cooldown and readmission come from a short low-bit probe after admission
  int64_t probe_steps = 12;
  double probe_cooldown = 0.08;  // part of what remains

  bool noise_aware = false;
  double near_threshold = 0.25;  // a trigger above the threshold by less than this part of it is near
  double small_movement = 2;     // and its loss moved by less than so many slacks
  int64_t short_cooldown_steps = 2;
};

// Returns the setting `name`, one of ControlSettingNames(); nothing for others.
std::optional<ControlSettings> NamedControls(absl::string_view name);

// In the order of the ladders.
std::vector<std::string> ControlSettingNames();

}  // namespace banyan

#endif  // BANYAN_PRECISION_PROFILE_CONTROL_SETTINGS_H_
