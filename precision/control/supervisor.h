// Decides for each round of an admitted low-bit route whether it goes low-bit or falls back to FP32: NEURON-Fabric's
// Supervisor (Wang, Huang and Lung, 2026, sections 4.3 and 4.4). A detector watches the smoothed loss. When it fires,
// FP32 rounds cool the run down, then a quiet stretch readmits the route. A budget bounds the share of low-bit rounds.
// Thread-compatible; owned by the PrecisionController.
//
// Invariants:
// - While the run cools down, is being readmitted, or is vetoed by force, no round is low-bit, unless the settings have
//   no veto; force holds even then.
#ifndef BANYAN_PRECISION_CONTROL_SUPERVISOR_H_
#define BANYAN_PRECISION_CONTROL_SUPERVISOR_H_

#include <cstdint>

#include "precision/control/budget_windows.h"
#include "precision/control/cusum_detector.h"
#include "precision/control/detector_scale.h"
#include "precision/control/loss_trend.h"
#include "precision/control/recovery_length.h"
#include "precision/control/route.h"
#include "precision/control/route_budget.h"
#include "precision/control/training_health.h"
#include "precision/profile/operating_profile.h"

namespace banyan {

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
  // it `was_vetoed`.
  void Resume(bool was_vetoed);

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
  void ObserveTrigger(const TrainingHealth& health, double rise);
  void ObserveQuiet(bool fired);

  OperatingProfile profile_;
  RecoveryProfile recovery_;  // as it holds now
  LossTrend trend_;
  RunningStatistics warmup_rises_;
  RunningStatistics probe_rises_;
  int64_t probe_triggers_ = 0;
  int64_t probe_steps_left_ = 0;
  CusumDetector detector_;
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
