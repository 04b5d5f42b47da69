#include "node/rounds/key_rounds.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace banyan {

std::vector<ResultPassing::Hop> ResultPassing::OnResult(ChunkIndex index, From from, bool has_passed_up) {
  const TreeSlice& place = attempt_->PlaceOf(index);
  Chunk& chunk = chunks_[index.value()];
  const bool is_root = !place.reduce_parent.has_value();
  std::vector<Hop> hops;
  // What comes from above is there already.
  const bool goes_up = !is_root && from != From::kParent && !chunk.went_down && !has_passed_up;
  if (goes_up && !std::exchange(chunk.went_up, true)) hops.push_back({*place.reduce_parent, Half::kReduce});
  const bool goes_down = is_root || from == From::kParent;
  if (!goes_down || std::exchange(chunk.went_down, true)) return hops;
  for (NodeId child : place.broadcast_children) hops.push_back({child, Half::kBroadcast});
  return hops;
}

int64_t Contribution::size_bytes() const {
  int64_t bytes = values.size_bytes();
  for (const Buffer& part : parts) bytes += part.size_bytes();
  return bytes;
}

std::vector<Buffer> Contribution::Parts() const {
  if (!parts.empty() || values.empty()) return parts;
  return {values};
}

std::vector<Buffer> Contribution::TakeParts() {
  std::vector<Buffer> taken = Parts();
  parts.clear();
  values = Buffer();
  return taken;
}

void RoundState::DropAttempt() {
  passing.reset();
  attempt.reset();
  binding.reset();
  refusals.clear();
  if (complete) return;
  open = is_late = false;
  if (results.has_value() && !results->HasAny()) results.reset();
  // Who said it may be no member any more. What this node has put in says it again.
  if (!results.has_value()) kind.reset();
}

RoundState* KeyRounds::Find(Round round) {
  auto state = rounds_.find(round);
  return state == rounds_.end() ? nullptr : &state->second;
}

const RoundState* KeyRounds::Find(Round round) const {
  auto state = rounds_.find(round);
  return state == rounds_.end() ? nullptr : &state->second;
}

bool KeyRounds::IsComplete(Round round) const {
  const RoundState* state = Find(round);
  return state != nullptr && state->complete;
}

Round KeyRounds::first_not_begun() const {
  Round first = std::max(next_complete_, next_closed_);
  for (const auto& [round, state] : rounds_) {
    const bool has_begun = state.binding.has_value() || state.results.has_value() || state.complete;
    if (has_begun) first = std::max(first, round.Next());
  }
  return first;
}

bool KeyRounds::IsTooFar(Round round, uint64_t rounds_in_flight) const {
  // Whoever is in this round has completed round - rounds_in_flight, which needed what this node contributed to it.
  return round.value() > next_complete_.value() + 2 * rounds_in_flight;
}

bool KeyRounds::HasRoomFor(Round round, uint64_t rounds_in_flight) const {
  // Round 0 sets what the later rounds work on, so that none of them runs beside it.
  const uint64_t in_flight = next_complete_ == Round(0) ? 1 : rounds_in_flight;
  return round.value() < next_complete_.value() + in_flight;
}

bool KeyRounds::HasContribution() const {
  return std::any_of(rounds_.begin(), rounds_.end(),
                     [](const auto& round) { return round.second.contribution.has_value(); });
}

bool KeyRounds::HasAbstention() const {
  return std::any_of(rounds_.begin(), rounds_.end(), [](const auto& round) {
    const RoundState& state = round.second;
    return (state.abstains() || state.is_late) && !state.complete;
  });
}

bool KeyRounds::HasBroadcastValues() const {
  return std::any_of(rounds_.begin(), rounds_.end(), [](const auto& round) {
    const std::optional<Contribution>& own = round.second.contribution;
    return !round.second.complete && own.has_value() && own->kind == RoundKind::kBroadcast && own->has_values();
  });
}

bool KeyRounds::IsIdle() const {
  for (const auto& [round, state] : rounds_) {
    if (state.closed_everywhere || (state.abstains() && !state.complete)) continue;
    if (state.open || state.contribution.has_value()) return false;
  }
  return true;
}

bool KeyRounds::Replace(Round round, Contribution contribution) {
  RoundState* state = Find(round);
  if (state == nullptr || state->complete || !state->abstains()) return false;
  state->contribution = std::move(contribution);
  state->is_late = state->open;
  return true;
}

void KeyRounds::TakeBackAbstentions(Round first) {
  for (auto state = rounds_.lower_bound(first); state != rounds_.end(); ++state) {
    if (!state->second.abstains() || state->second.complete) continue;
    state->second.contribution.reset();
    state->second.is_taken_back = true;
  }
}

void KeyRounds::RestoreAbstentions(Round before) {
  for (auto& [round, state] : rounds_) {
    if (round >= before) return;
    const bool is_to_restore = std::exchange(state.is_taken_back, false) && !state.contribution.has_value();
    if (is_to_restore && round >= next_closed_)
      state.contribution = Contribution{RoundKind::kAbstention, Buffer(), 0, 0};
  }
}

std::optional<std::vector<Buffer>> KeyRounds::TakeBackContribution(Round round) {
  RoundState* state = Find(round);
  if (state == nullptr || state->complete || state->abstains() || !state->contribution.has_value()) return std::nullopt;
  return std::exchange(state->contribution, std::nullopt)->TakeParts();
}

void KeyRounds::Complete(Round round, uint64_t hash) {
  RoundState& state = rounds_.at(round);
  state.complete = true;
  state.hash = hash;
  if (state.contribution.has_value()) state.contribution->Drop();
  last_complete_ = std::max(last_complete_, round);
  AdvanceComplete();
}

std::vector<Round> KeyRounds::Held(uint64_t rounds_in_flight) const {
  std::vector<Round> held;
  for (const auto& [round, state] : rounds_) {
    if (round.value() + rounds_in_flight > last_complete_.value()) break;
    if (state.complete && !state.closed_everywhere) held.push_back(round);
  }
  return held;
}

void KeyRounds::AdvanceComplete() {
  for (const RoundState* next = Find(next_complete_); next != nullptr && next->complete; next = Find(next_complete_)) {
    next_complete_ = next_complete_.Next();
  }
}

std::optional<Round> KeyRounds::Close(Round round) {
  RoundState* state = Find(round);
  if (state == nullptr || !state->complete) return std::nullopt;
  state->closed_everywhere = true;
  state->contribution.reset();
  return AdvanceClosed();
}

std::optional<Round> KeyRounds::Skip(Round round) {
  if (round < next_closed_) return std::nullopt;
  const RoundState* before = Find(round);
  const bool has_spoken = before != nullptr && before->contribution.has_value() && !before->abstains();
  if (IsComplete(round) || has_spoken) return std::nullopt;
  rounds_.erase(round);
  RoundState& state = rounds_[round];
  state.open = state.complete = state.closed_everywhere = state.is_skipped = true;
  AdvanceComplete();
  return AdvanceClosed();
}

std::optional<Round> KeyRounds::AdvanceClosed() {
  std::optional<Round> last;
  // A later round may close before an earlier one, whose chunks are still wanted.
  for (RoundState* next = Find(next_closed_); next != nullptr && next->closed_everywhere; next = Find(next_closed_)) {
    last = next_closed_;
    if (next->results.has_value()) next->results->DropResults();
    next_closed_ = next_closed_.Next();
  }
  return last;
}

void KeyRounds::Rebase(Round first_open) {
  next_closed_ = std::max(next_closed_, first_open);
  next_complete_ = std::max(next_complete_, next_closed_);
  std::erase_if(rounds_, [&](const auto& round) { return round.first < next_closed_ && !round.second.complete; });
  for (auto& [round, state] : rounds_) {
    state.closed_everywhere = round < next_closed_ || state.is_skipped;
    if (!state.closed_everywhere) continue;
    state.contribution.reset();
    if (state.results.has_value()) state.results->DropResults();
  }
  AdvanceComplete();
}

void KeyRounds::DropOld() {
  while (!rounds_.empty() && rounds_.begin()->first < next_closed_) {
    auto next = std::next(rounds_.begin());
    if (next == rounds_.end() || !next->second.open) return;
    rounds_.erase(rounds_.begin());
  }
}

}  // namespace banyan
