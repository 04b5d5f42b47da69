// What workers tell of a training step, and what their reports say together. Plain values; pure functions.
#ifndef BANYAN_PRECISION_CONTROL_TRAINING_HEALTH_H_
#define BANYAN_PRECISION_CONTROL_TRAINING_HEALTH_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace banyan {

struct TrainingHealth {
  int64_t step = 0;  // from 1
  double loss = 0;
  double progress = 0;                          // part of the run that is done, in [0, 1]; 0 where it is not known
  double learning_rate_fraction = 1;            // of the largest learning rate
  std::optional<double> metric = std::nullopt;  // such as accuracy on a holdout set; larger is better
};

// Returns the mean of the reports of one step; a loss that is not finite makes the mean so. REQUIRES: there is one.
TrainingHealth MeanHealth(absl::Span<const TrainingHealth> reports);

// Returns the steps that a run still has; nothing where its progress is not known.
std::optional<int64_t> RemainingSteps(const TrainingHealth& health);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_TRAINING_HEALTH_H_
