// Moves the target share of low-bit rounds: up after a healthy window, down after an unhealthy one or where the budget
// is overrun. In the late phase of a run the target grows only after a window as quiet as healthy ones were, and falls
// after a restless one. Thread-compatible; owned by the Supervisor.
#ifndef BANYAN_PRECISION_CONTROL_BUDGET_WINDOWS_H_
#define BANYAN_PRECISION_CONTROL_BUDGET_WINDOWS_H_

#include <cstdint>

#include "precision/control/training_health.h"
#include "precision/profile/control_settings.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_BUDGET_WINDOWS_H_
