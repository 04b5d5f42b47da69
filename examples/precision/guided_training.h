// One training of a model in which a PrecisionController decides the route of each round. All workers share the model,
// since replicas are the same bit by bit. A pure function of its arguments, on machines of one kind.
#ifndef BANYAN_EXAMPLES_PRECISION_GUIDED_TRAINING_H_
#define BANYAN_EXAMPLES_PRECISION_GUIDED_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "examples/precision/guided_model.h"
#include "examples/precision/precision_table.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"
#include "tools/precision_benchmark/precision_options.h"

namespace banyan {

struct GuidedTraining {
  OperatingProfile profile;  // with the control settings of the training
  PrecisionBinding binding;
  int64_t rounds = 1;
  int64_t workers = 1;
  Damage damage = Damage::kNone;
  double learning_rate = 0.02;
};

struct GuidedOutcome {
  GuidedResult result;
  std::string audit_json;
  std::vector<double> losses;  // of each round, the mean of all workers
};

// REQUIRES: `model` has a batch of each worker for each round, and is as its seed made it.
GuidedOutcome RunGuidedTraining(const GuidedTraining& training, GuidedModel& model);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_GUIDED_TRAINING_H_
