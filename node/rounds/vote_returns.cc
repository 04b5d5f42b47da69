#include "node/rounds/vote_returns.h"

#include <memory>
#include <optional>
#include <utility>

#include "node/votes/open_votes.h"
#include "node/votes/vote_computations.h"

namespace banyan {

void VoteReturns::OnResult(StepContext& step, KeyId key, Round round, ChunkIndex chunk, Epoch made_in,
                           const CheckedChunk& result) {
  KeyState& of_key = keys_->at(key);
  RoundState& state = *of_key.rounds.Find(round);
  std::optional<OpenVotes::Part> part = state.votes.Take(chunk, made_in);
  if (!part.has_value()) return;
  if (part->votes.empty()) return of_key.memory.voters().Commit(part->range, {});
  ++state.returning;
  computations_->Start<SettleVotes>(step, std::make_unique<SettleVotes>(std::move(part->votes), result),
                                    [this, key, round, range = part->range](StepContext& later, SettleVotes& done) {
                                      OnSettled(later, key, round, range, done.left());
                                    });
}

void VoteReturns::OnSettled(StepContext& step, KeyId key, Round round, const ElementRange& range,
                            const std::vector<Buffer>& left) {
  const auto known = keys_->find(key);
  if (known == keys_->end()) return;
  known->second.memory.voters().Commit(range, left);
  // It may have been closed by an epoch's plan meanwhile.
  RoundState* const state = known->second.rounds.Find(round);
  if (state != nullptr && --state->returning == 0) owner_->OnVotesSettled(step, key, round);
}

}  // namespace banyan
