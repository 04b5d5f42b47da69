#include "compression/counts/vote_feedback.h"

#include <utility>

#include "compression/counts/vote_packing.h"
#include "core/check.h"

namespace banyan {

void SubtractVote(const VoteCount& vote, float scale, absl::Span<float> values) {
  BANYAN_CHECK(vote.weight() == 1 && vote.elements() == static_cast<int64_t>(values.size()));
  if (vote.has_zero_votes()) {
    AddWhereSet(vote.votes_for().planes, -scale, values);
    AddWhereSet(vote.votes_against().planes, scale, values);
    return;
  }
  std::vector<float> direction(values.size(), -scale);
  AddWhereSet(vote.votes_for().planes, 2 * scale, absl::MakeSpan(direction));
  for (size_t i = 0; i < values.size(); ++i) values[i] -= direction[i];
}

VoteFeedback::VoteFeedback(int64_t elements, const VoteRules& rules)
    : rules_(rules), residual_(static_cast<size_t>(elements)) {
  BANYAN_CHECK(rules.aggregate == VoteAggregate::kMean);
}

const VoteCount& VoteFeedback::Vote(absl::Span<const float> gradient) {
  BANYAN_CHECK(!vote_.has_value() && gradient.size() == residual_.size());
  for (size_t i = 0; i < gradient.size(); ++i) residual_[i] += gradient[i];
  vote_ = VoteCount::OfVoter(residual_, SliceScale(residual_), rules_);
  return *vote_;
}

void VoteFeedback::Settle(float mean_scale) {
  BANYAN_CHECK(vote_.has_value());
  SubtractVote(*vote_, mean_scale, absl::MakeSpan(residual_));
  vote_.reset();
}

void VoteFeedback::Abandon() {
  BANYAN_CHECK(vote_.has_value());
  vote_.reset();
}

std::vector<float> VoteFeedback::TakeResidual() {
  BANYAN_CHECK(!vote_.has_value());
  return std::exchange(residual_, std::vector<float>(residual_.size()));
}

}  // namespace banyan
