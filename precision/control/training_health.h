// What the reports of workers on a training step say together. Pure functions.
#ifndef BANYAN_PRECISION_CONTROL_TRAINING_HEALTH_H_
#define BANYAN_PRECISION_CONTROL_TRAINING_HEALTH_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "proto/precision/precision_messages.h"

namespace banyan {

// Returns the mean of the reports of one step; a loss that is not finite makes the mean so. REQUIRES: there is one.
TrainingHealth MeanHealth(absl::Span<const TrainingHealth> reports);

// Returns the steps that a run still has; nothing where its progress is not known.
std::optional<int64_t> RemainingSteps(const TrainingHealth& health);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_TRAINING_HEALTH_H_
