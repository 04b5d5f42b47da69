// One training of a model in which a PrecisionController decides the route of each round. All workers share the model,
// since replicas are the same bit by bit. A pure function of its arguments, on machines of one kind.
#ifndef BANYAN_EXAMPLES_PRECISION_GUIDED_TRAINING_H_
#define BANYAN_EXAMPLES_PRECISION_GUIDED_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "compression/counts/vote_feedback.h"
#include "examples/precision/guided_model.h"
#include "examples/precision/precision_table.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"
#include "proto/precision/vote_rules.h"
#include "tools/precision_benchmark/precision_options.h"

namespace banyan {

// Reduces the gradients of one slice of all workers, as a job with one root and its workers as leaves would: in full
// precision, or by votes that are encoded as they would be sent. Keeps the workers' residuals where votes are averaged.
// Thread-compatible; owned by the training.
class VoteReducer {
 public:
  VoteReducer(int64_t elements, int64_t workers, const VoteRules& rules);

  // Writes the aggregate of `gradients`, one a worker, to `result`. Returns the payload bytes that this takes: a count
  // or floats up from each worker, and the result down to each. Residuals of earlier low-bit rounds join a round of
  // full precision.
  int64_t Reduce(absl::Span<const absl::Span<const float>> gradients, bool is_low_bit, absl::Span<float> result);

 private:
  int64_t ReduceVotes(absl::Span<const absl::Span<const float>> gradients, absl::Span<float> result);
  int64_t ReduceFloats(absl::Span<const absl::Span<const float>> gradients, absl::Span<float> result);

  VoteRules rules_;
  std::vector<VoteFeedback> feedback_;  // one a worker, where rules_.aggregate is kMean
};

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
