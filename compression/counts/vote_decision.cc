#include "compression/counts/vote_decision.h"

#include <cmath>
#include <utility>

#include "compression/counts/vote_values.h"
#include "core/check.h"

namespace banyan {
namespace {

// A side leads where it has more votes than the other and so many besides.
int64_t MarginVotes(const VoteRules& rules, int64_t weight) {
  if (rules.family != LowBitFamily::kTernary || rules.gate != ZeroGate::kResult) return 0;
  return static_cast<int64_t>(std::floor(rules.result_margin * static_cast<double>(weight)));
}

// The plane of where `left` leads `right` by more than `margin`.
std::vector<uint64_t> Leads(CountView left, CountView right, int64_t margin, int64_t words) {
  std::vector<uint64_t> result(static_cast<size_t>(words));
  if (margin == 0) {
    WhereGreater(left, right, words, result.data());
    return result;
  }
  const int width = CountWidth(margin);
  std::vector<uint64_t> margins(static_cast<size_t>(width * words));
  FillCounts(margin, width, words, margins.data());
  const int sum_width = std::max(width, right.width) + 1;
  std::vector<uint64_t> raised(static_cast<size_t>(sum_width * words));
  SumCounts({right, CountView{margins.data(), width}}, words, absl::MakeSpan(raised));
  WhereGreater(left, {raised.data(), sum_width}, words, result.data());
  return result;
}

}  // namespace

VoteDecision::VoteDecision(const VoteCount& count, const VoteRules& rules)
    : VoteDecision(count.elements(), count.scales().Mean(count.weight())) {
  if (rules.aggregate == VoteAggregate::kMean) {
    counts_ = count;
  } else {
    Decide(count, rules);
  }
}

VoteDecision VoteDecision::OfSigns(int64_t elements, float scale, std::vector<uint64_t> above,
                                   std::optional<std::vector<uint64_t>> below) {
  VoteDecision decision(elements, scale);
  decision.above_ = std::move(above);
  decision.below_ = std::move(below);
  return decision;
}

VoteDecision VoteDecision::OfCounts(VoteCount count) {
  VoteDecision decision(count.elements(), count.scales().Mean(count.weight()));
  decision.counts_ = std::move(count);
  return decision;
}

void VoteDecision::Decide(const VoteCount& count, const VoteRules& rules) {
  const int64_t margin = MarginVotes(rules, count.weight());
  if (count.has_zero_votes()) {
    DecideWithZeroVotes(count, margin);
  } else {
    // G-Ternary has a zero for what is even.
    DecideWithout(count, margin, rules.family == LowBitFamily::kBinary ? rules.tie : TieRule::kZero);
  }
  // Where every element is on a side, one plane says it all.
  const auto is_all = [this](int64_t i) {
    const uint64_t word = above_[i] | (*below_)[i];
    const bool last = i + 1 == PlaneWords(elements_) && elements_ % 64 != 0;
    return word == (last ? (uint64_t{1} << (elements_ % 64)) - 1 : ~uint64_t{0});
  };
  int64_t i = 0;
  while (i < PlaneWords(elements_) && is_all(i)) ++i;
  if (i == PlaneWords(elements_)) below_.reset();
}

void VoteDecision::DecideWithZeroVotes(const VoteCount& count, int64_t margin) {
  above_ = Leads(count.votes_for(), count.votes_against(), margin, count.words());
  below_ = Leads(count.votes_against(), count.votes_for(), margin, count.words());
}

// Of N voters c are for: c - (N - c) > margin says c > (N + margin) / 2, and the other side leads where
// c < (N - margin) / 2, hence not c > ceil((N - margin) / 2) - 1.
void VoteDecision::DecideWithout(const VoteCount& count, int64_t margin, TieRule tie) {
  const int64_t weight = count.weight();
  above_.resize(static_cast<size_t>(count.words()));
  below_ = std::vector<uint64_t>(static_cast<size_t>(count.words()));
  const bool tie_is_above = tie == TieRule::kPositive && margin == 0 && weight > 0 && weight % 2 == 0;
  WhereAbove(count.votes_for(), tie_is_above ? weight / 2 - 1 : (weight + margin) / 2, count.words(), above_.data());
  const int64_t not_below = (weight - margin + 1) / 2 - 1;
  if (weight == 0 || margin >= weight) return;  // nobody can lead so far
  WhereAbove(count.votes_for(), not_below, count.words(), below_->data());
  for (uint64_t& word : *below_) word = ~word;
  ClearPlaneEnd(elements_, below_->data());
}

int VoteDecision::bits_per_element() const {
  if (counts_.has_value()) return counts_->bits_per_element();
  return below_.has_value() ? 2 : 1;
}

void VoteDecision::WriteTo(absl::Span<float> values) const {
  BANYAN_CHECK(static_cast<int64_t>(values.size()) == elements_);
  if (counts_.has_value()) {
    const VoteCount& count = *counts_;
    VoteLeads leads;
    leads.votes_for = PlaneBytes::Of(count.votes_for(), count.words());
    leads.has_zero_votes = count.has_zero_votes();
    if (leads.has_zero_votes) leads.votes_against = PlaneBytes::Of(count.votes_against(), count.words());
    leads.weight = count.weight();
    return WriteLeads(leads, StepOfMean(scale_, leads.weight), values);
  }
  const auto* const below = below_.has_value() ? reinterpret_cast<const uint8_t*>(below_->data()) : nullptr;
  WriteDirections(reinterpret_cast<const uint8_t*>(above_.data()), below, scale_, values);
}

}  // namespace banyan
