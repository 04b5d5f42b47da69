// The source of the values that simulated workers push, when they are not the integers of TrainingPlan. It may be a
// real model, which learns as a WorkerListener what the workers got. Called on the simulation's thread.
#ifndef BANYAN_SIM_TRAINING_GRADIENT_SOURCE_H_
#define BANYAN_SIM_TRAINING_GRADIENT_SOURCE_H_

#include <cstddef>

#include "absl/types/span.h"
#include "core/ids.h"
#include "sim/training/worker_name.h"

namespace banyan {

class GradientSource {
 public:
  virtual ~GradientSource() = default;

  // Writes to `values` what `worker` contributes to `tensor` in `round`, element by element. In round 0 that is the
  // initial values, later its gradient, for which it has the results of all rounds before. Called once for each worker,
  // tensor and round.
  virtual void Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) = 0;
  // The tensor's parameters as they are after the results so far, for workers that register weights.
  virtual void FillWeights(size_t tensor, absl::Span<float> values) = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TRAINING_GRADIENT_SOURCE_H_
