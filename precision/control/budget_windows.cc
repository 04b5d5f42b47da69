#include "precision/control/budget_windows.h"

#include <algorithm>

namespace banyan {
namespace {

// A reference is learned from so many healthy windows, and never taken for less than this: quiet runs have rests too.
constexpr int64_t kWindowsToLearn = 2;
constexpr double kLeastReference = 0.02;
// The late phase takes back what this many times the reference shows.
constexpr double kRestless = 2;

}  // namespace

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

}  // namespace banyan
