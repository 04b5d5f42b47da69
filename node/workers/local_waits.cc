#include "node/workers/local_waits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

bool HasCall(const std::vector<WaitingCall>& calls, std::optional<WorkerId> worker) {
  return std::any_of(calls.begin(), calls.end(),
                     [worker](const WaitingCall& call) { return !worker.has_value() || call.worker == *worker; });
}

// Returns whether the worker, or anyone, waits for the round or has pushed it.
bool IsOf(const LocalRound& state, std::optional<WorkerId> worker) {
  if (state.complete) return false;
  if (HasCall(state.waiting, worker)) return true;
  return worker.has_value() ? state.HasPart(*worker) : state.pushed > 0;
}

// Those that take part in the round and have not pushed it.
std::vector<WorkerId> MissingPushes(const LocalKey& local, Round round, const LocalRound& state) {
  std::vector<WorkerId> missing;
  for (uint32_t worker = 0; worker < local.has_init.size() && !state.contributed; ++worker) {
    if (local.has_init[worker] && local.last_push[worker] < round) missing.push_back(WorkerId(worker));
  }
  return missing;
}

void KeepOlder(std::optional<LocalWait> other, std::optional<LocalWait>& oldest) {
  if (!other.has_value()) return;
  if (!oldest.has_value() || other->since < oldest->since) oldest = std::move(other);
}

}  // namespace

std::vector<WorkerId> LocalWaits::MissingInit(const LocalKey& local) const {
  std::vector<WorkerId> missing;
  for (uint32_t worker = 0; worker < local.has_init.size(); ++worker) {
    if (!local.has_init[worker] && is_awaited_(WorkerId(worker))) missing.push_back(WorkerId(worker));
  }
  return missing;
}

std::optional<LocalWait> LocalWaits::OldestOf(const LocalKey& local, std::optional<WorkerId> worker) const {
  if (HasCall(local.init_requests, worker)) {
    return LocalWait{absl::StrCat("Init of key '", local.name, "'"),
                     local.key,
                     Round(0),
                     local.init_since,
                     MissingInit(local),
                     local.key != KeyId()};
  }
  for (const auto& [round, state] : local.rounds) {
    if (!IsOf(state, worker)) continue;
    std::string what = round == Round(0) ? absl::StrCat("Init of key '", local.name, "'")
                                         : absl::StrCat("round ", round.value(), " of key '", local.name, "'");
    return LocalWait{std::move(what), local.key, round, state.since, MissingPushes(local, round, state)};
  }
  return std::nullopt;
}

std::optional<LocalWait> LocalWaits::OldestBarrier(std::optional<WorkerId> worker) const {
  for (const auto& [barrier, waiting] : barriers_->waiting()) {
    if (!HasCall(waiting.calls, worker)) continue;
    return LocalWait{absl::StrCat("barrier ", barrier), KeyId(), Round(barrier), waiting.since,
                     barriers_->Missing(barrier, is_awaited_)};
  }
  return std::nullopt;
}

std::optional<LocalWait> LocalWaits::Find(WorkerId worker, const std::string& name) const {
  if (name.empty()) return OldestBarrier(worker);
  const LocalKey* const local = keys_->Find(name);
  return local == nullptr ? std::nullopt : OldestOf(*local, worker);
}

std::optional<LocalWait> LocalWaits::Oldest() const {
  std::optional<LocalWait> oldest = OldestBarrier(std::nullopt);
  for (const auto& [name, local] : keys_->by_name()) KeepOlder(OldestOf(local, std::nullopt), oldest);
  return oldest;
}

std::vector<NodeReport::Missing> LocalWaits::Missing() const {
  std::optional<LocalWait> oldest;
  for (const auto& [name, local] : keys_->by_name()) {
    std::optional<LocalWait> wait = OldestOf(local, std::nullopt);
    if (wait.has_value() && wait->has_id && !wait->missing.empty()) KeepOlder(std::move(wait), oldest);
  }
  std::vector<NodeReport::Missing> rows;
  for (std::optional<LocalWait> wait : {std::move(oldest), OldestBarrier(std::nullopt)}) {
    if (!wait.has_value() || wait->missing.empty()) continue;
    if (wait->missing.size() > NodeReport::kMostMissingWorkers) wait->missing.resize(NodeReport::kMostMissingWorkers);
    rows.push_back({wait->key, wait->round, std::move(wait->missing)});
  }
  return rows;
}

}  // namespace banyan
