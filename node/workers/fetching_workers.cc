#include "node/workers/fetching_workers.h"

#include <algorithm>
#include <optional>

namespace banyan {
namespace {

// Returns the round of `key` in these runs; none when it is in none of them.
std::optional<Round> FindPushed(const std::vector<KeysPushed>& pushed, KeyId key) {
  const auto run = std::find_if(pushed.begin(), pushed.end(), [key](const KeysPushed& keys) {
    return keys.first_key <= key && key <= keys.last_key;
  });
  if (run == pushed.end()) return std::nullopt;
  return run->round;
}

}  // namespace

std::vector<LocalKey*> FetchingWorkers::KeysOf(WorkerId worker) const {
  std::vector<LocalKey*> keys;
  for (auto& [name, local] : keys_->by_name()) {
    if (local.takes_part && local.has_init[worker.value()]) keys.push_back(&local);
  }
  std::sort(keys.begin(), keys.end(), [](const LocalKey* a, const LocalKey* b) { return a->key < b->key; });
  return keys;
}

std::vector<KeysPushed> FetchingWorkers::PushedBy(WorkerId worker) const {
  std::vector<KeysPushed> pushed;
  for (const LocalKey* local : KeysOf(worker)) {
    const Round round = local->last_push[worker.value()];
    const bool goes_on = !pushed.empty() && pushed.back().round == round && pushed.back().last_key.Next() == local->key;
    if (goes_on) {
      pushed.back().last_key = local->key;
    } else {
      pushed.push_back({local->key, local->key, round});
    }
  }
  return pushed;
}

bool FetchingWorkers::HasMissedNothing(WorkerId worker) const {
  const std::vector<LocalKey*> keys = KeysOf(worker);
  return std::all_of(keys.begin(), keys.end(),
                     [worker](const LocalKey* local) { return local->last_push[worker.value()] == Round(0); });
}

void FetchingWorkers::AbstainUntil(const std::vector<KeysPushed>& pushed) {
  for (auto& [name, local] : keys_->by_name()) {
    if (!local.takes_part || local.HasTakers()) continue;
    const std::optional<Round> last = FindPushed(pushed, local.key);
    if (last.has_value()) engine_->AbstainUntil(local.key, last->Next());
  }
}

void FetchingWorkers::BeginAfter(WorkerId worker, const std::vector<KeysPushed>& pushed) {
  for (LocalKey* local : KeysOf(worker)) {
    const std::optional<Round> last = FindPushed(pushed, local->key);
    const std::optional<Round> next = engine_->EndAbstention(local->key);
    // Of a key that the others do not have nothing is known.
    BeginWith(*local, worker, last.has_value() ? last->Next() : next.value_or(local->next_contribution));
  }
}

void FetchingWorkers::BeginAnywhere(WorkerId worker) {
  for (LocalKey* local : KeysOf(worker)) {
    if (local->last_push[worker.value()] != LocalKey::kFetching) continue;
    const std::optional<Round> next = engine_->EndAbstention(local->key);
    BeginWith(*local, worker, std::max(local->next_contribution, next.value_or(Round(1))));
  }
}

void FetchingWorkers::BeginWith(LocalKey& local, WorkerId worker, Round first) {
  first = std::max(first, Round(1));
  local.next_contribution = std::max(local.next_contribution, first);
  local.last_push[worker.value()] = Round(first.value() - 1);
}

}  // namespace banyan
