// One training of the example's network in which a PrecisionController decides the route of each round. All workers
// share one model, since replicas are the same bit by bit. Momentum is added up after the reduction, as an optimizer of
// each replica would. A pure function of its arguments, on machines of one kind.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_PRECISION_GUIDED_TRAINING_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_PRECISION_GUIDED_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/precision/precision_table.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"
#include "tools/precision_benchmark/precision_options.h"

namespace banyan {

struct GuidedTraining {
  OperatingProfile profile;  // with the control settings of the training
  PrecisionBinding binding;
  int64_t rounds = 1;
  int64_t workers = 1;
  int64_t batch = 16;
  Damage damage = Damage::kNone;
  double learning_rate = 0.02;
  double momentum = 0.9;
  uint64_t seed = 1;
};

struct GuidedOutcome {
  GuidedResult result;
  std::string audit_json;
  std::vector<double> losses;  // of each round, the mean of all workers
};

// REQUIRES: UseOneThread() was called; each worker's part of the images has a batch.
GuidedOutcome RunGuidedTraining(const GuidedTraining& training, const ImageSet& training_images,
                                const ImageSet& test_images);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_PRECISION_GUIDED_TRAINING_H_
