// What a voter's votes left out of the sum, kept for a later round: error feedback for VoteAggregate::kMean. The
// residual is settled when the round's mean scale is known, since that scale is what every vote counted for. Then the
// mean of what all voters offered is the result plus the mean of their residuals. A majority has no such account.
// Thread-compatible; owned by what pushes a voter's gradients of one slice.
#ifndef BANYAN_COMPRESSION_COUNTS_VOTE_FEEDBACK_H_
#define BANYAN_COMPRESSION_COUNTS_VOTE_FEEDBACK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_values.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// Returns one voter's votes on the parts of a slice, in their order; the scale is that of all of them.
std::vector<VoteCount> VotesOnSlice(absl::Span<const Offered> parts, const VoteRules& rules);

// Takes what a voter's vote was worth from what it was cast on: left[i] = what was offered less scale times the vote's
// direction of element i. What is no finite number drops out, as in compression/error_feedback.h. `left` may be one of
// the arrays that were offered. REQUIRES: the vote is of one voter, on as many elements.
void LeaveAfterVote(const VoteCount& vote, float scale, const Offered& offered, absl::Span<float> left);

class VoteFeedback {
 public:
  // REQUIRES: rules.aggregate is kMean.
  VoteFeedback(int64_t elements, const VoteRules& rules);

  // Returns the vote on `gradient` plus the residual. REQUIRES: the last vote is settled or abandoned.
  const VoteCount& Vote(absl::Span<const float> gradient);
  // The round has its result, whose scale is `mean_scale`. REQUIRES: a vote is out.
  void Settle(float mean_scale);
  // The vote counted nowhere: all that was offered stays. REQUIRES: a vote is out.
  void Abandon();

  // Takes the residual for a round of full precision, or for a flush. REQUIRES: no vote is out.
  std::vector<float> TakeResidual();
  absl::Span<const float> residual() const { return residual_; }

 private:
  VoteRules rules_;
  std::vector<float> residual_;  // with a vote out: what was voted on
  std::optional<VoteCount> vote_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_VOTE_FEEDBACK_H_
