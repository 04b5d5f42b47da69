#include "examples/precision/vote_reducer.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "compression/counts/vote_frame.h"
#include "core/check.h"

namespace banyan {

VoteReducer::VoteReducer(int64_t elements, int64_t workers, const VoteRules& rules) : rules_(rules) {
  if (rules.aggregate == VoteAggregate::kMean) {
    feedback_.assign(static_cast<size_t>(workers), VoteFeedback(elements, rules));
  }
}

int64_t VoteReducer::Reduce(absl::Span<const absl::Span<const float>> gradients, bool is_low_bit,
                            absl::Span<float> result) {
  return is_low_bit ? ReduceVotes(gradients, result) : ReduceFloats(gradients, result);
}

int64_t VoteReducer::ReduceVotes(absl::Span<const absl::Span<const float>> gradients, absl::Span<float> result) {
  int64_t bytes = 0;
  VoteCount sum(static_cast<int64_t>(result.size()), HasZeroVotes(rules_));
  for (size_t worker = 0; worker < gradients.size(); ++worker) {
    const VoteCount vote = feedback_.empty()
                               ? VoteCount::OfVoter(gradients[worker], SliceScale(gradients[worker]), rules_)
                               : feedback_[worker].Vote(gradients[worker]);
    const std::vector<uint8_t> frame = EncodeCount(vote);
    bytes += static_cast<int64_t>(frame.size());
    const absl::StatusOr<VoteCount> arrived = DecodeCount(frame, vote.elements(), 1, vote.has_zero_votes());
    BANYAN_CHECK(arrived.ok());
    sum.Add(*arrived);
  }
  const std::vector<uint8_t> frame = EncodeDecision(VoteDecision(sum, rules_));
  const absl::StatusOr<VoteDecision> decision = DecodeDecision(frame, static_cast<int64_t>(result.size()));
  BANYAN_CHECK(decision.ok());
  decision->WriteTo(result);
  for (VoteFeedback& feedback : feedback_) feedback.Settle(decision->scale());
  return bytes + static_cast<int64_t>(frame.size() * gradients.size());
}

int64_t VoteReducer::ReduceFloats(absl::Span<const absl::Span<const float>> gradients, absl::Span<float> result) {
  std::fill(result.begin(), result.end(), 0.0f);
  for (const absl::Span<const float> values : gradients) {
    for (size_t i = 0; i < result.size(); ++i) result[i] += values[i];
  }
  for (VoteFeedback& feedback : feedback_) {
    const std::vector<float> residual = feedback.TakeResidual();
    for (size_t i = 0; i < result.size(); ++i) result[i] += residual[i];
  }
  const float part = 1.0f / static_cast<float>(gradients.size());
  for (float& value : result) value *= part;
  return static_cast<int64_t>(2 * gradients.size() * result.size() * sizeof(float));
}

}  // namespace banyan
