#include "node/workers/fetching_workers.h"

#include <algorithm>
#include <optional>
#include <set>

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

bool FetchingWorkers::HasState(WorkerId worker) const {
  const std::vector<LocalKey*> keys = KeysOf(worker);
  return std::none_of(keys.begin(), keys.end(), [worker](const LocalKey* local) {
    return local->last_push[worker.value()] == LocalKey::kFetching;
  });
}

bool FetchingWorkers::HasMissedNothing(WorkerId worker) const {
  const std::vector<LocalKey*> keys = KeysOf(worker);
  return std::all_of(keys.begin(), keys.end(),
                     [worker](const LocalKey* local) { return local->last_push[worker.value()] == Round(0); });
}

std::vector<WorkerId> FetchingWorkers::Beginners() const {
  std::set<uint32_t> beginners, others;
  for (const auto& [name, local] : keys_->by_name()) {
    if (!local.takes_part) continue;
    for (uint32_t worker = 0; worker < local.has_init.size(); ++worker) {
      if (local.has_init[worker]) (local.last_push[worker] == Round(0) ? beginners : others).insert(worker);
    }
  }
  std::vector<WorkerId> found;
  for (const uint32_t worker : beginners) {
    if (others.count(worker) == 0) found.emplace_back(worker);
  }
  return found;
}

bool FetchingWorkers::HasResultsOf(const std::vector<KeysPushed>& pushed) const {
  const auto& all = keys_->by_name();
  return std::all_of(all.begin(), all.end(), [&](const auto& named) {
    const LocalKey& local = named.second;
    const std::optional<Round> last = local.takes_part ? FindPushed(pushed, local.key) : std::nullopt;
    return !last.has_value() || *last == Round(0) || engine_->HasCompleted(local.key, *last);
  });
}

void FetchingWorkers::Begin(WorkerId worker) {
  for (LocalKey* local : KeysOf(worker)) {
    local->last_push[worker.value()] = LocalKey::kFetching;
    local->ForgetLate(worker.value());
    Apply(*local);
  }
}

void FetchingWorkers::AbstainUntil(const std::vector<KeysPushed>& pushed) {
  pushed_ = pushed;
  for (auto& [name, local] : keys_->by_name()) Apply(local);
}

void FetchingWorkers::AbstainFromAll() {
  if (pushed_.empty()) return;
  pushed_.clear();
  for (auto& [name, local] : keys_->by_name()) Apply(local);
}

void FetchingWorkers::Apply(LocalKey& local) {
  if (!local.takes_part) return;
  const std::optional<Round> last = local.HasFetching() ? FindPushed(pushed_, local.key) : std::nullopt;
  local.waits_from = last.has_value() ? last->Next() : LocalKey::kNoLimit;
  if (last.has_value()) TakeBack(local);
  engine_->LimitAbstention(local.key, local.waits_from);
}

void FetchingWorkers::TakeBack(LocalKey& local) {
  for (auto round = local.rounds.lower_bound(local.waits_from); round != local.rounds.end(); ++round) {
    LocalRound& state = round->second;
    if (!state.contributed || state.complete) continue;
    std::optional<std::vector<Buffer>> values = engine_->TakeBackContribution(local.key, round->first);
    if (values.has_value()) state.TakeBack(*std::move(values));
  }
}

void FetchingWorkers::BeginAfter(WorkerId worker, const std::vector<KeysPushed>& pushed) {
  for (LocalKey* local : KeysOf(worker)) {
    const std::optional<Round> last = FindPushed(pushed, local->key);
    const std::optional<Round> next = engine_->EndAbstention(local->key);
    // Of a key that the others do not have nothing is known.
    BeginWith(*local, worker, last.has_value() ? last->Next() : next.value_or(local->next_contribution));
    Apply(*local);
  }
}

void FetchingWorkers::BeginAnywhere(WorkerId worker) {
  for (LocalKey* local : KeysOf(worker)) {
    if (local->last_push[worker.value()] != LocalKey::kFetching) continue;
    const std::optional<Round> next = engine_->EndAbstention(local->key);
    BeginWith(*local, worker, std::max(local->next_contribution, next.value_or(Round(1))));
    Apply(*local);
  }
}

void FetchingWorkers::BeginWith(LocalKey& local, WorkerId worker, Round first) {
  first = std::max(first, Round(1));
  local.next_contribution = std::max(local.next_contribution, first);
  local.last_push[worker.value()] = Round(first.value() - 1);
}

}  // namespace banyan
