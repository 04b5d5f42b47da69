#include "node/rounds/vote_computations.h"

#include <utility>

#include "compression/counts/vote_count.h"
#include "compression/element_types.h"
#include "compression/vote_chunk.h"
#include "core/check.h"

namespace banyan {

CastVotes::CastVotes(std::vector<Buffer> gradients, std::vector<ElementRange> ranges, const VoteRules& rules)
    : gradients_(std::move(gradients)), ranges_(std::move(ranges)), rules_(rules) {
  BANYAN_CHECK(!gradients_.empty());
}

void CastVotes::Run() {
  for (Buffer& gradient : gradients_) {
    if (IsHalf(gradient.type())) gradient = WidenedCopy(gradient);
  }
  std::vector<float> scales;
  for (const Buffer& gradient : gradients_) scales.push_back(SliceScale(gradient.floats()));
  for (const ElementRange& range : ranges_) {
    std::vector<VoteCount> counts;
    for (size_t worker = 0; worker < gradients_.size(); ++worker) {
      const Buffer part = gradients_[worker].Slice(range.first_element, range.elements);
      counts.push_back(VoteCount::OfVoter(part.floats(), scales[worker], rules_));
    }
    std::vector<const VoteCount*> summands;
    for (const VoteCount& count : counts) summands.push_back(&count);
    votes_.push_back(EncodeVotes(VoteCount::SumOf(summands)));
  }
}

int64_t CastVotes::size_bytes() const {
  int64_t bytes = 0;
  for (const Buffer& gradient : gradients_) bytes += 2 * gradient.size_bytes();
  return bytes;
}

void AddVotes::Run() { sum_ = SumOfVotes(votes_); }

int64_t AddVotes::size_bytes() const {
  int64_t bytes = 0;
  for (const CheckedChunk& votes : votes_) bytes += 2 * votes.payload_bytes();
  return bytes;
}

void DecideVotesOfChunk::Run() { result_ = DecideVotes(votes_, rules_); }

}  // namespace banyan
