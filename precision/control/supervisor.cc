#include "precision/control/supervisor.h"

#include <algorithm>
#include <cmath>

#include "precision/control/probe_result.h"

namespace banyan {

Supervisor::Supervisor(const OperatingProfile& profile)
    : profile_(profile),
      recovery_(profile.recovery),
      trend_(profile.detector.smoothing),
      detector_(profile.detector.slack, profile.detector.threshold),
      budget_(profile.exposure.bound, profile.exposure.band, profile.exposure.interval_steps),
      windows_(profile.controls, profile.exposure.bound) {
  record_.detector = {profile.detector.slack, profile.detector.threshold};
  record_.cooldown_steps = recovery_.cooldown_steps;
}

void Supervisor::ObserveWarmup(const TrainingHealth& health) {
  const bool is_first = !trend_.has_loss();
  const double rise = trend_.Add(health.loss);
  if (!is_first && rise < HUGE_VAL) warmup_rises_.Add(rise);
  budget_.Count(false);
}

void Supervisor::Admit() {
  const ControlSettings& controls = profile_.controls;
  record_.detector = ScaleDetector(profile_.detector, warmup_rises_, controls);
  detector_.SetScale(record_.detector.slack, record_.detector.threshold);
  detector_.Reset();
  if (controls.auto_target) {
    const double target = profile_.exposure.bound * controls.auto_part * record_.detector.confidence;
    budget_.set_target(std::max(target, std::min(controls.least_target, profile_.exposure.bound)));
  }
  if (controls.probe) probe_steps_left_ = controls.probe_steps;
}

void Supervisor::Resume(bool was_vetoed) {
  detector_.Reset();
  if (was_vetoed) cooldown_left_ = recovery_.cooldown_steps;
}

Veto Supervisor::Decide() {
  if (is_forced_) return Veto::kForced;
  if (!profile_.controls.veto) return Veto::kNone;
  if (cooldown_left_ > 0) return Veto::kCooldown;
  if (readmission_left_ > 0) return Veto::kReadmission;
  if (is_probing()) return Veto::kNone;
  if (profile_.controls.budget && !budget_.Allows()) return Veto::kBudget;
  return Veto::kNone;
}

void Supervisor::Observe(const TrainingHealth& health, bool was_low_bit) {
  const double rise = trend_.Add(health.loss);
  budget_.Count(was_low_bit);
  const bool fired = detector_.Add(rise);
  const double part = detector_.threshold() > 0 ? detector_.reached() / detector_.threshold() : 0;
  if (is_probing()) {
    ObserveProbe(health, rise, fired);
  } else if (cooldown_left_ > 0 || readmission_left_ > 0) {
    ObserveQuiet(fired);
  } else {
    guard_left_ = std::max<int64_t>(0, guard_left_ - 1);
    if (fired) ObserveTrigger(health, rise);
  }
  if (profile_.controls.adaptive_windows && profile_.controls.budget) {
    budget_.set_target(windows_.Step(health, part, rise, fired, budget_.is_over(), budget_.target()));
  }
}

void Supervisor::ObserveProbe(const TrainingHealth& health, double rise, bool fired) {
  if (rise < HUGE_VAL) probe_rises_.Add(rise);
  probe_triggers_ += fired ? 1 : 0;
  record_.triggers += fired ? 1 : 0;
  if (--probe_steps_left_ > 0) return;
  const ProbeEvidence evidence{probe_rises_.mean(), warmup_rises_.mean(), probe_triggers_,
                               profile_.controls.probe_steps, RemainingSteps(health)};
  const ProbeResult result = JudgeProbe(evidence, record_.detector, profile_);
  budget_.set_target(result.target);
  recovery_.cooldown_steps = result.cooldown_steps;
  recovery_.readmission_steps = result.readmission_steps;
  record_.trigger_density = result.trigger_density;
  record_.cooldown_steps = result.cooldown_steps;
  // A probe that made the detector fire ends in a fallback.
  if (probe_triggers_ > 0) cooldown_left_ = recovery_.cooldown_steps;
  readmission_left_ = probe_triggers_ > 0 ? recovery_.readmission_steps : 0;
}

void Supervisor::ObserveTrigger(const TrainingHealth& health, double rise) {
  ++record_.triggers;
  Trigger trigger{.reached = detector_.reached(),
                  .threshold = detector_.threshold(),
                  .slack = detector_.slack(),
                  .rise = rise,
                  .is_repeated = guard_left_ > 0,
                  .done_steps = health.step,
                  .remaining_steps = RemainingSteps(health)};
  const RecoveryLength length = JudgeTrigger(trigger, recovery_, profile_.controls);
  record_.noise_recoveries += length.is_noise ? 1 : 0;
  cooldown_left_ = length.cooldown_steps;
  readmission_left_ = length.readmission_steps;
}

// A step at FP32. What fires while the run cools down is what it cools down from; what fires afterwards says that it
// has not recovered, and the quiet stretch begins anew.
void Supervisor::ObserveQuiet(bool fired) {
  if (cooldown_left_ > 0) {
    if (--cooldown_left_ > 0 || readmission_left_ > 0) return;
  } else if (fired) {
    readmission_left_ = std::max<int64_t>(recovery_.readmission_steps, 1);
    return;
  } else if (--readmission_left_ > 0) {
    return;
  }
  ++record_.readmissions;
  guard_left_ = recovery_.guard_steps;
  detector_.Reset();
}

}  // namespace banyan
