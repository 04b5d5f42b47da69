#include "compression/counts/vote_feedback.h"

#include <utility>

#include "compression/counts/vote_packing.h"
#include "core/check.h"

namespace banyan {

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
  const absl::Span<float> values = absl::MakeSpan(residual_);
  if (vote_->has_zero_votes()) {
    AddWhereSet(vote_->votes_for().planes, -mean_scale, values);
    AddWhereSet(vote_->votes_against().planes, mean_scale, values);
  } else {
    std::vector<float> direction(residual_.size(), -mean_scale);
    AddWhereSet(vote_->votes_for().planes, 2 * mean_scale, absl::MakeSpan(direction));
    for (size_t i = 0; i < residual_.size(); ++i) residual_[i] -= direction[i];
  }
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
