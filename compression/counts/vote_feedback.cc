#include "compression/counts/vote_feedback.h"

#include <utility>

#include "compression/counts/vote_values.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {

namespace {

// What is added up at a time stays in the innermost cache. A whole number of groups, so that each block's bits are
// apart.
constexpr size_t kBlockElements = 8 * kSignGroup;

absl::Span<const uint8_t> BytesOf(absl::Span<const float> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)};
}

// Calls use(first element, values) for what is offered, block by block.
template <typename Use>
void ForEachBlock(const Offered& offered, Use use) {
  alignas(64) float sums[kBlockElements];
  for (size_t first = 0; first < offered.gradient.size(); first += kBlockElements) {
    absl::Span<const float> block = offered.gradient.subspan(first, kBlockElements);
    if (!offered.residual.empty()) {
      AddBytes({sums, block.size()}, BytesOf(block), BytesOf(offered.residual.subspan(first, kBlockElements)));
      block = {sums, block.size()};
    }
    use(first, block);
  }
}

using Planes = std::vector<uint64_t>;

void PackWithZeroVotes(const Offered& part, float threshold, Planes& planes) {
  uint64_t* const above = planes.data();
  uint64_t* const below = above + PlaneWords(static_cast<int64_t>(part.gradient.size()));
  ForEachBlock(part, [=](size_t first, absl::Span<const float> values) {
    PackAbove(values, threshold, above + first / 64);
    PackBelow(values, threshold, below + first / 64);
  });
}

}  // namespace

std::vector<VoteCount> VotesOnSlice(absl::Span<const Offered> parts, const VoteRules& rules) {
  const bool has_zero_votes = HasZeroVotes(rules);
  MagnitudeSum magnitudes;
  int64_t elements = 0;
  std::vector<Planes> planes;
  for (const Offered& part : parts) {
    const auto count = static_cast<int64_t>(part.gradient.size());
    planes.emplace_back(static_cast<size_t>(PlaneWords(count) * (has_zero_votes ? 2 : 1)));
    // Signs need no scale: one look at the values is enough.
    ForEachBlock(part, [&](size_t first, absl::Span<const float> values) {
      magnitudes.Add(values);
      if (!has_zero_votes) PackAbove(values, 0, planes.back().data() + first / 64);
    });
    elements += count;
  }
  const float scale = elements == 0 ? 0 : MeanMagnitude(magnitudes.Total(), elements);
  const auto threshold = static_cast<float>(rules.sender_threshold * scale);
  std::vector<VoteCount> votes;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (has_zero_votes) PackWithZeroVotes(parts[i], threshold, planes[i]);
    votes.push_back(VoteCount::OfCheckedPlanes(static_cast<int64_t>(parts[i].gradient.size()), has_zero_votes, 1,
                                               ScaleSum::Of(scale), std::move(planes[i])));
  }
  return votes;
}

void LeaveAfterVote(const VoteCount& vote, float scale, const Offered& offered, absl::Span<float> left) {
  BANYAN_CHECK(vote.weight() == 1 && vote.elements() == static_cast<int64_t>(left.size()));
  const auto* const below =
      vote.has_zero_votes() ? reinterpret_cast<const uint8_t*>(vote.votes_against().planes) : nullptr;
  LeaveAfterDirections(reinterpret_cast<const uint8_t*>(vote.votes_for().planes), below, scale, offered, left);
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
  LeaveAfterVote(*vote_, mean_scale, {residual_, {}}, absl::MakeSpan(residual_));
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
