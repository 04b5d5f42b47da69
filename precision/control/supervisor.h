// Decides for each round of an admitted low-bit route whether it goes low-bit or falls back to FP32: NEURON-Fabric's
// Supervisor (Wang, Huang and Lung, 2026, sections 4.3 and 4.4). A detector watches the smoothed loss, and a guard what
// the training reports of a holdout set (Table 2), where the profile has one. When either fires,
// FP32 rounds cool the run down, then a quiet stretch readmits the route. A budget bounds the share of low-bit rounds.
// Thread-compatible; owned by the PrecisionController.
//
// Invariants:
// - While the run cools down, is being readmitted, or is vetoed by force, no round is low-bit, unless the settings have
//   no veto; force holds even then.
#ifndef BANYAN_PRECISION_CONTROL_SUPERVISOR_H_
#define BANYAN_PRECISION_CONTROL_SUPERVISOR_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "precision/control/learned_controls.h"
#include "precision/control/loss_trend.h"
#include "precision/profile/control_settings.h"
#include "precision/profile/operating_profile.h"
#include "proto/precision/key_routes.h"
#include "proto/precision/precision_messages.h"

namespace banyan {

// Returns the mean of the reports of one step; a loss that is not finite makes the mean so. REQUIRES: there is one.
TrainingHealth MeanHealth(absl::Span<const TrainingHealth> reports);

// Returns the steps that a run still has; nothing where its progress is not known.
std::optional<int64_t> RemainingSteps(const TrainingHealth& health);

// Why an admitted route is vetoed; kNone where it is not.
enum class Veto : uint8_t { kNone, kForced, kCooldown, kReadmission, kBudget };

inline absl::string_view VetoName(Veto veto) {
  constexpr absl::string_view kNames[] = {"none", "forced", "cooldown", "readmission", "budget"};
  return kNames[static_cast<int>(veto)];
}

// Moves the target share of low-bit rounds: up after a healthy window, down after an unhealthy one or where the budget
// is overrun. In the late phase of a run the target grows only after a window as quiet as healthy ones were, and falls
// after a restless one. Thread-compatible; owned by the Supervisor.
class BudgetWindows {
 public:
  // The target stays between settings.least_target and `bound`.
  BudgetWindows(const ControlSettings& settings, double bound) : settings_(settings), bound_(bound) {}

  // Takes a step: the part of the detector's threshold that its sum has reached, the rise of the smoothed loss, whether
  // the detector fired and whether the budget is overrun. Returns the target from here on; it moves where a window
  // ends.
  double Step(const TrainingHealth& health, double part_of_threshold, double rise, bool fired, bool is_over_budget,
              double target);

  int64_t updates() const { return updates_; }
  int64_t late_guard_events() const { return late_guard_events_; }
  // How much of the threshold a healthy window reaches: learned, or the settings'.
  double reference() const;

 private:
  double EndWindow(const TrainingHealth& health, double target);

  ControlSettings settings_;
  double bound_;
  int64_t steps_ = 0;
  bool fired_ = false;
  bool over_budget_ = false;
  double most_of_threshold_ = 0;
  double loss_change_ = 0;
  double healthy_sum_ = 0;  // of what healthy windows reached
  int64_t healthy_windows_ = 0;
  int64_t updates_ = 0;
  int64_t late_guard_events_ = 0;
};

// Holds the share of low-bit rounds down to a target: beyond target and band it vetoes for an interval. Shares are of
// all rounds of the run, the warm-up's among them. Thread-compatible; owned by the Supervisor.
class RouteBudget {
 public:
  RouteBudget(double target, double band, int64_t interval_steps)
      : target_(target), band_(band), interval_steps_(interval_steps) {}

  // Returns whether the next round may be low-bit. Asked once for each round that could be.
  bool Allows() {
    if (vetoed_steps_ > 0) {
      --vetoed_steps_;
      return false;
    }
    const double share = static_cast<double>(low_bit_rounds_ + 1) / static_cast<double>(rounds_ + 1);
    if (share <= target_ + band_) return true;
    ++guard_events_;
    vetoed_steps_ = interval_steps_ - 1;
    return false;
  }

  void Count(bool is_low_bit) {
    ++rounds_;
    low_bit_rounds_ += is_low_bit ? 1 : 0;
  }

  void set_target(double target) { target_ = target; }
  double target() const { return target_; }
  double share() const {
    return rounds_ == 0 ? 0 : static_cast<double>(low_bit_rounds_) / static_cast<double>(rounds_);
  }
  bool is_over() const { return share() > target_ + band_; }
  int64_t guard_events() const { return guard_events_; }

 private:
  double target_;
  double band_;
  int64_t interval_steps_;
  int64_t vetoed_steps_ = 0;
  int64_t rounds_ = 0;
  int64_t low_bit_rounds_ = 0;
  int64_t guard_events_ = 0;
};

// The detector's slack and threshold for this run: those of the profile, those that the run's own warm-up suggests, or
// the latter within a trust region around the former, so that a noisy warm-up cannot blind the detector.
struct DetectorScale {
  double slack = 0;
  double threshold = 0;
  double confidence = 0;      // in the warm-up's statistics, in [0, 1]
  bool is_projected = false;  // the trust region held it back
};

// Returns the scale from the rises of the smoothed loss in the warm-up. The run's own slack is their mean plus one
// standard deviation, and the threshold keeps the profile's ratio to it. The region lets both grow by trust_radius
// times the confidence, and shrink to least_tightening.
DetectorScale ScaleDetector(const DetectorProfile& profile, const RunningStatistics& rises,
                            const ControlSettings& settings);

// The detector fired.
struct Trigger {
  double reached = 0;    // the detector's sum
  double threshold = 0;  // which it went beyond
  double slack = 0;
  double rise = 0;             // of the smoothed loss in this step
  bool is_repeated = false;    // soon after a readmission
  bool is_of_holdout = false;  // the guard fired, and not the detector
  std::optional<int64_t> remaining_steps = std::nullopt;
};

// How long a run stays at FP32 after that.
struct RecoveryLength {
  int64_t cooldown_steps = 0;
  int64_t readmission_steps = 0;
  bool is_noise = false;  // the trigger was taken for noise: a short recovery
};

// `recovery` has the numbers that hold now: a probe may have shortened the profile's. A trigger near the threshold with
// a small movement is noise where settings.noise_aware; a repeated one lasts guard_factor times as long.
RecoveryLength JudgeTrigger(const Trigger& trigger, const RecoveryProfile& recovery, const ControlSettings& settings);

// What a short low-bit probe after admission shows.
struct ProbeEvidence {
  double mean_rise = 0;  // of the smoothed loss per step of the probe
  double warmup_rise = 0;
  int64_t triggers = 0;  // of the detector
  int64_t steps = 0;
  std::optional<int64_t> remaining_steps = std::nullopt;
};

// What that says of a run: how much of it may be low-bit, and how long a fallback needs to be.
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

class Supervisor {
 public:
  // What a run shows of it.
  struct Record {
    int64_t triggers = 0;
    int64_t noise_recoveries = 0;
    int64_t readmissions = 0;
    DetectorScale detector;
    double trigger_density = 0;  // of the probe
    int64_t cooldown_steps = 0;  // that the next trigger starts from
  };

  explicit Supervisor(const OperatingProfile& profile);

  // A step of the warm-up, which has no low-bit rounds.
  void ObserveWarmup(const TrainingHealth& health);
  // The route is admitted: the next round is the first that it decides.
  void Admit();

  // The route had been admitted before a restart: the next round is the first that this decides, after a cooldown where
  // it `was_vetoed`, with what had been learned. A probe that was not over begins anew; what windows had learned is
  // gone.
  void Resume(bool was_vetoed, const std::optional<LearnedControls>& learned);
  // What warm-up and probe have taught; nothing before they are over, and where the settings learn nothing.
  const std::optional<LearnedControls>& learned() const { return learned_; }

  // Decides on the next round. REQUIRES: admitted; called once per round, each followed by Observe.
  Veto Decide();
  // What came of the round that was decided last, or of an earlier one where reports take their time.
  void Observe(const TrainingHealth& health, bool was_low_bit);

  // An operator's veto, until it is taken back.
  void Force(bool vetoes) { is_forced_ = vetoes; }

  const Record& record() const { return record_; }
  const RouteBudget& budget() const { return budget_; }
  const BudgetWindows& windows() const { return windows_; }
  const CusumDetector& detector() const { return detector_; }

 private:
  bool is_probing() const { return probe_steps_left_ > 0; }
  void ObserveProbe(const TrainingHealth& health, double rise, bool fired);
  // Takes what was learned for the rounds from here on.
  void Use(const LearnedControls& learned);
  void ObserveTrigger(const TrainingHealth& health, double rise, bool is_of_holdout);
  void ObserveQuiet(bool fired);
  // Returns whether what is reported of the holdout set has become too bad.
  bool HoldoutFires(const TrainingHealth& health);

  OperatingProfile profile_;
  RecoveryProfile recovery_;  // as it holds now
  LossTrend trend_;
  RunningStatistics warmup_rises_;
  RunningStatistics probe_rises_;
  int64_t probe_triggers_ = 0;
  int64_t probe_steps_left_ = 0;
  CusumDetector detector_;
  std::optional<double> best_metric_;
  std::optional<LearnedControls> learned_;
  RouteBudget budget_;
  BudgetWindows windows_;
  int64_t cooldown_left_ = 0;
  int64_t readmission_left_ = 0;
  int64_t guard_left_ = 0;
  bool is_forced_ = false;
  Record record_;
};

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_SUPERVISOR_H_
