// Reduces the gradients of one slice of all workers, as a job with one root and its workers as leaves would: in full
// precision, or by votes that are encoded as they would be sent. Keeps the workers' residuals where votes are averaged.
// Thread-compatible; owned by the training.
#ifndef BANYAN_EXAMPLES_PRECISION_VOTE_REDUCER_H_
#define BANYAN_EXAMPLES_PRECISION_VOTE_REDUCER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "compression/counts/vote_feedback.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_VOTE_REDUCER_H_
