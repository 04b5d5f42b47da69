#include "node/votes/vote_computations.h"

#include <algorithm>
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

std::vector<CastVote> CastVotes::OffersOn(size_t chunk) const {
  const ElementRange& range = chunks_[chunk].range;
  std::vector<CastVote> offers;
  for (const Buffer& gradient : gradients_) {
    offers.push_back({VoteCount(0, false), gradient.Slice(range.first_element, range.elements), Buffer()});
  }
  if (!residuals_.has_value()) return offers;
  const std::vector<Buffer>& of_chunk = (*residuals_)[chunk];
  for (size_t voter = 0; voter < of_chunk.size(); ++voter) {
    if (of_chunk[voter].empty()) continue;
    CastVote& offer = offers[std::min(voter, offers.size() - 1)];
    if (!offer.residual.empty()) {
      // What a worker that is gone has left.
      offer.gradient = Buffer::CopyOf(offer.gradient.floats());
      AddResidual(offer.residual.floats(), offer.gradient.mutable_floats());
    }
    offer.residual = of_chunk[voter];
  }
  return offers;
}

void CastVotes::CastOnSlice(size_t first, size_t end) {
  std::vector<std::vector<CastVote>> of_slice;
  for (size_t chunk = first; chunk < end; ++chunk) of_slice.push_back(OffersOn(chunk));
  for (size_t voter = 0; voter < gradients_.size(); ++voter) {
    std::vector<Offered> parts;
    for (const std::vector<CastVote>& offers : of_slice) parts.push_back(offers[voter].offered());
    std::vector<VoteCount> votes = VotesOnSlice(parts, rules_);
    for (size_t i = 0; i < votes.size(); ++i) of_slice[i][voter].vote = std::move(votes[i]);
  }
  for (std::vector<CastVote>& cast : of_slice) {
    std::vector<const VoteCount*> summands;
    for (const CastVote& each : cast) summands.push_back(&each.vote);
    votes_.push_back(EncodeVotes(summands.size() == 1 ? *summands[0] : VoteCount::SumOf(summands)));
    if (residuals_.has_value()) cast_.push_back(std::move(cast));
  }
}

void CastVotes::Run() {
  for (Buffer& gradient : gradients_) {
    if (IsHalf(gradient.type())) gradient = WidenedCopy(gradient);
  }
  for (size_t first = 0; first < chunks_.size();) {
    size_t end = first;
    while (end < chunks_.size() && chunks_[end].slice == chunks_[first].slice) ++end;
    CastOnSlice(first, end);
    first = end;
  }
}

int64_t CastVotes::size_bytes() const {
  // Read for the scale and for the votes, with what earlier ones have left. Where one look is enough for both it counts
  // as two, which is what the guard reckons with.
  const int64_t passes = residuals_.has_value() ? 4 : 2;
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
    left_.push_back(Buffer::AllocateForOverwrite(cast.gradient.elements()));
    LeaveAfterVote(cast.vote, scale, cast.offered(), left_.back().mutable_floats());
  }
}

int64_t SettleVotes::size_bytes() const {
  int64_t bytes = result_.payload_bytes();
  for (const CastVote& cast : votes_) bytes += 2 * cast.gradient.size_bytes() + cast.residual.size_bytes();
  return bytes;
}

}  // namespace banyan
