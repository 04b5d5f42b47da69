#include "compression/counts/vote_count.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "compression/counts/vote_values.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

// Adds up to kMostSummands counts.
std::vector<uint64_t> SumOfSome(absl::Span<const VoteCount* const> counts, int64_t weight) {
  const VoteCount& first = *counts.front();
  const int64_t half = CountWidth(weight) * first.words();
  std::vector<uint64_t> planes(static_cast<size_t>(half * (first.has_zero_votes() ? 2 : 1)));
  std::vector<CountView> views;
  for (const VoteCount* count : counts) views.push_back(count->votes_for());
  SumCounts(views, first.words(), absl::MakeSpan(planes).first(half));
  if (!first.has_zero_votes()) return planes;
  views.clear();
  for (const VoteCount* count : counts) views.push_back(count->votes_against());
  SumCounts(views, first.words(), absl::MakeSpan(planes).subspan(half));
  return planes;
}

// Checks that no element has more votes that are not zero than there are voters.
absl::Status CheckAtMostWeight(const VoteCount& count) {
  const bool can_be_more = count.has_zero_votes() || (count.weight() & (count.weight() + 1)) != 0;
  if (!can_be_more) return absl::OkStatus();
  const int64_t words = count.words();
  std::vector<uint64_t> sum;
  CountView all = count.votes_for();
  if (count.has_zero_votes()) {
    all.width = count.width() + 1;
    sum.resize(static_cast<size_t>(all.width * words));
    SumCounts({count.votes_for(), count.votes_against()}, words, absl::MakeSpan(sum));
    all.planes = sum.data();
  }
  std::vector<uint64_t> above(static_cast<size_t>(words));
  WhereAbove(all, count.weight(), words, above.data());
  if (std::all_of(above.begin(), above.end(), [](uint64_t word) { return word == 0; })) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected at most %d votes on each element, as the count's weight says, got more; its sender "
                      "counted wrongly or the bytes were changed",
                      count.weight()));
}

}  // namespace

float SliceScale(absl::Span<const float> values) {
  if (values.empty()) return 0;
  return MeanMagnitude(SumOfMagnitudes(values), static_cast<int64_t>(values.size()));
}

VoteCount::VoteCount(int64_t elements, bool has_zero_votes) : elements_(elements), has_zero_votes_(has_zero_votes) {}

VoteCount VoteCount::OfVoter(absl::Span<const float> values, float scale, const VoteRules& rules) {
  VoteCount count(static_cast<int64_t>(values.size()), HasZeroVotes(rules));
  count.weight_ = 1;
  count.scales_ = ScaleSum::Of(scale);
  count.planes_.resize(static_cast<size_t>(count.words() * (count.has_zero_votes_ ? 2 : 1)));
  const float threshold = count.has_zero_votes_ ? static_cast<float>(rules.sender_threshold * scale) : 0;
  PackAbove(values, threshold, count.planes_.data());
  if (count.has_zero_votes_) PackBelow(values, threshold, count.planes_.data() + count.words());
  return count;
}

VoteCount VoteCount::OfCheckedPlanes(int64_t elements, bool has_zero_votes, int64_t weight, ScaleSum scales,
                                     std::vector<uint64_t> planes) {
  VoteCount count(elements, has_zero_votes);
  count.weight_ = weight;
  count.scales_ = scales;
  count.planes_ = std::move(planes);
  BANYAN_CHECK(static_cast<int64_t>(count.planes_.size()) == count.bits_per_element() * count.words());
  return count;
}

absl::StatusOr<VoteCount> VoteCount::OfPlanes(int64_t elements, bool has_zero_votes, int64_t weight, ScaleSum scales,
                                              std::vector<uint64_t> planes) {
  VoteCount count = OfCheckedPlanes(elements, has_zero_votes, weight, scales, std::move(planes));
  for (int64_t first = 0; first < static_cast<int64_t>(count.planes_.size()); first += count.words()) {
    if (!IsPlaneEndClear(elements, count.planes_.data() + first)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "expected zero bits after the counts of %d elements, got others; the bytes were changed", elements));
    }
  }
  const absl::Status status = CheckAtMostWeight(count);
  if (!status.ok()) return status;
  return count;
}

VoteCount VoteCount::SumOf(absl::Span<const VoteCount* const> counts) {
  VoteCount sum = *counts.front();
  counts.remove_prefix(1);
  while (!counts.empty()) {
    const absl::Span<const VoteCount* const> some = counts.first(std::min<size_t>(counts.size(), kMostSummands - 1));
    std::vector<const VoteCount*> summands = {&sum};
    summands.insert(summands.end(), some.begin(), some.end());
    int64_t weight = sum.weight_;
    ScaleSum scales = sum.scales_;
    for (const VoteCount* count : some) {
      BANYAN_CHECK(count->elements_ == sum.elements_ && count->has_zero_votes_ == sum.has_zero_votes_);
      weight += count->weight_;
      scales.Add(count->scales_);
    }
    BANYAN_CHECK(weight <= kMaxVotes);
    sum.planes_ = SumOfSome(summands, weight);
    sum.weight_ = weight;
    sum.scales_ = scales;
    counts.remove_prefix(some.size());
  }
  return sum;
}

void VoteCount::Add(const VoteCount& other) { *this = SumOf({this, &other}); }

bool VoteCount::operator==(const VoteCount& other) const {
  return elements_ == other.elements_ && has_zero_votes_ == other.has_zero_votes_ && weight_ == other.weight_ &&
         scales_ == other.scales_ && planes_ == other.planes_;
}

}  // namespace banyan
