#include "node/rounds/replicas.h"

#include <algorithm>

#include "core/buffer.h"
#include "core/check.h"

namespace banyan {

bool Replicas::Lacks(KeyId key) const {
  const auto known = keys_->find(key);
  return known != keys_->end() && known->second.memory.lacks_replica();
}

std::vector<KeyId> Replicas::Lacking() const {
  std::vector<KeyId> lacking;
  for (const auto& [key, state] : *keys_) {
    if (state.memory.lacks_replica()) lacking.push_back(key);
  }
  return lacking;
}

bool Replicas::LacksAny() const {
  return std::any_of(keys_->begin(), keys_->end(),
                     [](const auto& state) { return state.second.memory.lacks_replica(); });
}

std::optional<Round> Replicas::LastComplete(KeyId key) const {
  const auto known = keys_->find(key);
  const Round next = known == keys_->end() ? Round(0) : known->second.rounds.next_complete();
  return next == Round(0) ? std::nullopt : std::optional(Round(next.value() - 1));
}

bool Replicas::CanGive(KeyId key, Round after) const {
  if (LastComplete(key) != after) return false;
  const KeyState& state = keys_->at(key);
  if (!state.memory.has_optimizer() || state.memory.lacks_replica()) return false;
  const RoundState* next = state.rounds.Find(after.Next());
  return next == nullptr || !next->results.has_value() || !next->results->HasAny();
}

Buffer Replicas::CopyIfStill(KeyId key, Round open) const {
  const bool is_still = open > Round(0) && CanGive(key, Round(open.value() - 1));
  return is_still ? Buffer::CopyOf(keys_->at(key).memory.Parameters()) : Buffer();
}

void Replicas::Take(StepContext& step, KeyId key, absl::Span<const uint8_t> image) {
  KeyState& state = keys_->at(key);
  const std::optional<Round> after = LastComplete(key);
  BANYAN_CHECK(after.has_value() && state.memory.lacks_replica());
  state.memory.TakeImage(image);
  // Steps change the replica while workers still read what they asked for.
  state.fetched.emplace(*after, Buffer::CopyOf(state.memory.Parameters()));
  state.is_held = false;
  for (auto& [round, open] : state.rounds.all()) {
    if (round > *after && open.results.has_value()) open.results->ReadAnew(step);
  }
}

}  // namespace banyan
