#include "node/votes/vote_computations.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compression/counts/vote_count.h"
#include "compression/counts/vote_feedback.h"
#include "compression/element_types.h"
#include "compression/error_feedback.h"
#include "compression/vote_chunk.h"
#include "core/check.h"

namespace banyan {

CastVotes::CastVotes(std::vector<Buffer> gradients, std::vector<Chunk> chunks, const VoteRules& rules,
                     std::optional<Residuals> residuals)
    : gradients_(std::move(gradients)), chunks_(std::move(chunks)), rules_(rules), residuals_(std::move(residuals)) {
  BANYAN_CHECK(!gradients_.empty());
  BANYAN_CHECK(!residuals_.has_value() || residuals_->size() == chunks_.size());
}

void CastVotes::AddResiduals() {
  for (Buffer& gradient : gradients_) gradient = Buffer::CopyOf(gradient.floats());
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const std::vector<Buffer>& of_chunk = (*residuals_)[chunk];
    for (size_t voter = 0; voter < of_chunk.size(); ++voter) {
      if (of_chunk[voter].empty()) continue;
      const Buffer& gradient = gradients_[std::min(voter, gradients_.size() - 1)];
      Buffer part = gradient.Slice(chunks_[chunk].range.first_element, chunks_[chunk].range.elements);
      AddResidual(of_chunk[voter].floats(), part.mutable_floats());
    }
  }
}

void CastVotes::Cast(const ElementRange& range, const std::vector<float>& scales) {
  std::vector<CastVote> cast;
  for (size_t worker = 0; worker < gradients_.size(); ++worker) {
    Buffer part = gradients_[worker].Slice(range.first_element, range.elements);
    VoteCount vote = VoteCount::OfVoter(part.floats(), scales[worker], rules_);
    cast.push_back({std::move(vote), std::move(part)});
  }
  std::vector<const VoteCount*> summands;
  for (const CastVote& each : cast) summands.push_back(&each.vote);
  votes_.push_back(EncodeVotes(VoteCount::SumOf(summands)));
  if (residuals_.has_value()) cast_.push_back(std::move(cast));
}

void CastVotes::Run() {
  for (Buffer& gradient : gradients_) {
    if (IsHalf(gradient.type())) gradient = WidenedCopy(gradient);
  }
  if (residuals_.has_value()) AddResiduals();
  ElementRange slice;
  std::vector<float> scales;
  for (const Chunk& chunk : chunks_) {
    if (scales.empty() || slice != chunk.slice) {
      slice = chunk.slice;
      scales.clear();
      for (const Buffer& gradient : gradients_) {
        scales.push_back(SliceScale(gradient.floats().subspan(slice.first_element, slice.elements)));
      }
    }
    Cast(chunk.range, scales);
  }
}

int64_t CastVotes::size_bytes() const {
  // Read for the scale and for the votes; with residuals copied before, read and written once more.
  const int64_t passes = residuals_.has_value() ? 7 : 2;
  int64_t bytes = 0;
  for (const Buffer& gradient : gradients_) bytes += passes * gradient.size_bytes();
  return bytes;
}

void AddVotes::Run() { sum_ = SumOfVotes(votes_); }

int64_t AddVotes::size_bytes() const {
  int64_t bytes = 0;
  for (const CheckedChunk& votes : votes_) bytes += 2 * votes.payload_bytes();
  return bytes;
}

void DecideVotesOfChunk::Run() { result_ = DecideVotes(votes_, rules_); }

void SettleVotes::Run() {
  const float scale = ScaleOfResult(result_);
  for (CastVote& cast : votes_) {
    const absl::Span<float> left = cast.offered.mutable_floats();
    SubtractVote(cast.vote, scale, left);
    for (float& value : left) value = std::isfinite(value) ? value : 0;
    left_.push_back(std::move(cast.offered));
  }
}

int64_t SettleVotes::size_bytes() const {
  int64_t bytes = result_.payload_bytes();
  for (const CastVote& cast : votes_) bytes += 4 * cast.offered.size_bytes();
  return bytes;
}

}  // namespace banyan
