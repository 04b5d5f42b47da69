#include "precision/control/supervisor.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

bool IsNoise(const Trigger& trigger, const ControlSettings& settings) {
  return settings.noise_aware && !trigger.is_repeated && !trigger.is_of_holdout &&
         trigger.reached - trigger.threshold < settings.near_threshold * trigger.threshold &&
         std::abs(trigger.rise) < settings.small_movement * trigger.slack;
}

int64_t PartOf(double part, int64_t steps) {
  return std::max<int64_t>(1, std::llround(part * static_cast<double>(steps)));
}

// A reference is learned from so many healthy windows, and never taken for less than this: quiet runs have rests too.
constexpr int64_t kWindowsToLearn = 2;
constexpr double kLeastReference = 0.02;
// The late phase takes back what this many times the reference shows.
constexpr double kRestless = 2;

}  // namespace

TrainingHealth MeanHealth(absl::Span<const TrainingHealth> reports) {
  TrainingHealth mean{.step = reports.front().step, .learning_rate_fraction = 0, .metric = std::nullopt};
  double metrics = 0;
  int64_t with_metric = 0;
  const double count = static_cast<double>(reports.size());
  for (const TrainingHealth& report : reports) {
    mean.loss += report.loss / count;
    mean.progress += report.progress / count;
    mean.learning_rate_fraction += report.learning_rate_fraction / count;
    metrics += report.metric.value_or(0);
    with_metric += report.metric.has_value() ? 1 : 0;
  }
  if (with_metric > 0) mean.metric = metrics / static_cast<double>(with_metric);
  return mean;
}

std::optional<int64_t> RemainingSteps(const TrainingHealth& health) {
  if (!(health.progress > 0) || health.step <= 0) return std::nullopt;
  const double total = static_cast<double>(health.step) / std::fmin(health.progress, 1);
  return static_cast<int64_t>(std::llround(total)) - health.step;
}

double BudgetWindows::reference() const {
  if (!settings_.learned_reference || healthy_windows_ < kWindowsToLearn) return settings_.late_reference;
  return std::max(kLeastReference, healthy_sum_ / static_cast<double>(healthy_windows_));
}

double BudgetWindows::Step(const TrainingHealth& health, double part_of_threshold, double rise, bool fired,
                           bool is_over_budget, double target) {
  ++steps_;
  fired_ = fired_ || fired;
  over_budget_ = over_budget_ || is_over_budget;
  most_of_threshold_ = std::max(most_of_threshold_, part_of_threshold);
  loss_change_ += rise;
  if (steps_ < settings_.window_steps) return target;
  const double next = EndWindow(health, target);
  updates_ += next != target ? 1 : 0;
  steps_ = 0;
  fired_ = over_budget_ = false;
  most_of_threshold_ = loss_change_ = 0;
  return next;
}

double BudgetWindows::EndWindow(const TrainingHealth& health, double target) {
  const bool is_healthy = !fired_ && most_of_threshold_ < settings_.healthy_part && loss_change_ <= 0;
  bool grows = is_healthy && settings_.may_grow;
  bool shrinks = (fired_ || over_budget_) && settings_.may_shrink;
  const bool is_late =
      health.progress >= settings_.late_progress || health.learning_rate_fraction <= settings_.late_learning_rate;
  if (settings_.late_guard && is_late) {
    const double ratio = most_of_threshold_ / reference();
    if (grows && ratio > settings_.late_ratio) {
      grows = false;
      ++late_guard_events_;
    }
    if (!shrinks && ratio > kRestless * settings_.late_ratio && settings_.may_shrink) {
      shrinks = true;
      ++late_guard_events_;
    }
  }
  if (is_healthy) {
    healthy_sum_ += most_of_threshold_;
    ++healthy_windows_;
  }
  const double proposal = target + (shrinks ? -settings_.shrink_step : grows ? settings_.grow_step : 0);
  const double smoothed = target + settings_.target_smoothing * (proposal - target);
  return std::clamp(smoothed, std::min(settings_.least_target, bound_), bound_);
}

DetectorScale ScaleDetector(const DetectorProfile& profile, const RunningStatistics& rises,
                            const ControlSettings& settings) {
  DetectorScale scale{.slack = profile.slack, .threshold = profile.threshold};
  const double needed = static_cast<double>(std::max<int64_t>(settings.confident_steps, 1));
  scale.confidence = std::min(1.0, static_cast<double>(rises.count()) / needed);
  if (settings.detector == DetectorSource::kProfile || rises.count() < 2) return scale;
  // Without a slack in the profile there is no ratio to keep, and no region around it.
  if (!(profile.slack > 0)) return scale;
  const double own = std::max(rises.mean() + rises.deviation(), settings.least_tightening * profile.slack);
  double factor = own / profile.slack;
  if (settings.detector == DetectorSource::kTrustRegion) {
    const double most = 1 + settings.trust_radius * scale.confidence;
    scale.is_projected = factor > most;
    factor = std::min(factor, most);
  }
  scale.slack = factor * profile.slack;
  scale.threshold = factor * profile.threshold;
  return scale;
}

RecoveryLength JudgeTrigger(const Trigger& trigger, const RecoveryProfile& recovery, const ControlSettings& settings) {
  RecoveryLength length{.cooldown_steps = recovery.cooldown_steps, .readmission_steps = recovery.readmission_steps};
  if (IsNoise(trigger, settings)) {
    length.is_noise = true;
    length.cooldown_steps = std::min(settings.short_cooldown_steps, recovery.cooldown_steps);
    length.readmission_steps = 0;
    return length;
  }
  if (trigger.is_repeated) {
    length.cooldown_steps = PartOf(recovery.guard_factor, length.cooldown_steps);
  }
  if (settings.is_run_aware && trigger.remaining_steps.has_value()) {
    const int64_t most = PartOf(settings.run_aware_cooldown, *trigger.remaining_steps);
    length.cooldown_steps = std::min(length.cooldown_steps, most);
  }
  return length;
}

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
  (void)HoldoutFires(health);  // notes the best
  budget_.Count(false);
}

void Supervisor::Admit() {
  const ControlSettings& controls = profile_.controls;
  record_.detector = ScaleDetector(profile_.detector, warmup_rises_, controls);
  LearnedControls learned{.slack = record_.detector.slack,
                          .threshold = record_.detector.threshold,
                          .confidence = record_.detector.confidence,
                          .target = profile_.exposure.bound};
  if (controls.auto_target) {
    const double target = profile_.exposure.bound * controls.auto_part * learned.confidence;
    learned.target = std::max(target, std::min(controls.least_target, profile_.exposure.bound));
  }
  Use(learned);
  detector_.Reset();
  if (controls.probe) probe_steps_left_ = controls.probe_steps;
}

void Supervisor::Use(const LearnedControls& learned) {
  const ControlSettings& controls = profile_.controls;
  if (controls.detector != DetectorSource::kProfile || controls.auto_target || controls.probe) learned_ = learned;
  record_.detector.slack = learned.slack;
  record_.detector.threshold = learned.threshold;
  record_.detector.confidence = learned.confidence;
  detector_.SetScale(learned.slack, learned.threshold);
  budget_.set_target(learned.target);
  if (!learned.is_probed) return;
  recovery_.cooldown_steps = learned.cooldown_steps;
  recovery_.readmission_steps = learned.readmission_steps;
  record_.trigger_density = learned.trigger_density;
  record_.cooldown_steps = learned.cooldown_steps;
}

void Supervisor::Resume(bool was_vetoed, const std::optional<LearnedControls>& learned) {
  detector_.Reset();
  if (learned.has_value()) Use(*learned);
  if (was_vetoed) cooldown_left_ = recovery_.cooldown_steps;
  if (profile_.controls.probe && learned.has_value() && !learned->is_probed) {
    cooldown_left_ = 0;
    probe_steps_left_ = profile_.controls.probe_steps;
  }
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
  const bool detects = detector_.Add(rise);
  const bool fired = HoldoutFires(health) || detects;
  const double part = detector_.threshold() > 0 ? detector_.reached() / detector_.threshold() : 0;
  if (is_probing()) {
    ObserveProbe(health, rise, fired);
  } else if (cooldown_left_ > 0 || readmission_left_ > 0) {
    ObserveQuiet(fired);
  } else {
    guard_left_ = std::max<int64_t>(0, guard_left_ - 1);
    if (fired) ObserveTrigger(health, rise, !detects);
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
  LearnedControls learned = *learned_;
  learned.is_probed = true;
  learned.target = result.target;
  learned.trigger_density = result.trigger_density;
  learned.cooldown_steps = result.cooldown_steps;
  learned.readmission_steps = result.readmission_steps;
  Use(learned);
  // A probe that made the detector fire ends in a fallback.
  if (probe_triggers_ > 0) cooldown_left_ = recovery_.cooldown_steps;
  readmission_left_ = probe_triggers_ > 0 ? recovery_.readmission_steps : 0;
}

bool Supervisor::HoldoutFires(const TrainingHealth& health) {
  if (!health.metric.has_value() || !(profile_.detector.most_metric_drop > 0)) return false;
  best_metric_ = std::max(best_metric_.value_or(*health.metric), *health.metric);
  return *best_metric_ - *health.metric > profile_.detector.most_metric_drop;
}

void Supervisor::ObserveTrigger(const TrainingHealth& health, double rise, bool is_of_holdout) {
  ++record_.triggers;
  Trigger trigger{.reached = detector_.reached(),
                  .threshold = detector_.threshold(),
                  .slack = detector_.slack(),
                  .rise = rise,
                  .is_repeated = guard_left_ > 0,
                  .is_of_holdout = is_of_holdout,
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
