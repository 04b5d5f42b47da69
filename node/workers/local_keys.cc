#include "node/workers/local_keys.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr size_t kLongestKeyName = 256;

}  // namespace

absl::Status LocalKey::CheckShape(WorkerId worker, const Buffer& values) const {
  if (values.type() == DataType::kFloat32 && values.elements() == elements) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("key '", name, "' has ", elements, " float32 elements, but worker ",
                                                 worker.value(), " gave ", values.elements()));
}

LocalRound& LocalKey::OpenRound(Round round, RoundKind kind, uint32_t workers) {
  const auto [entry, is_new] = rounds.try_emplace(round);
  LocalRound& state = entry->second;
  if (!is_new) return state;
  state.kind = kind;
  state.gradients.resize(workers);
  state.has_pushed.resize(workers);
  state.asked.resize(workers);
  return state;
}

void LocalKey::DropOldRounds() {
  const Round oldest = *std::min_element(last_push.begin(), last_push.end());
  while (!rounds.empty() && rounds.begin()->first < oldest && rounds.begin()->second.complete) {
    rounds.erase(rounds.begin());
  }
}

absl::Status LocalKeys::CheckInit(const WorkerInit& call) const {
  if (call.name.empty() || call.name.size() > kLongestKeyName) {
    return absl::InvalidArgumentError(
        absl::StrCat("a key's name has 1 to ", kLongestKeyName, " bytes, got ", call.name.size()));
  }
  if (call.values.empty() || call.values.type() != DataType::kFloat32) {
    return absl::InvalidArgumentError(absl::StrCat("key '", call.name, "': expected at least one float32 element"));
  }
  const auto known = by_name_.find(call.name);
  const KeySlice* row = book_->FindKey(call.name);
  const int64_t expected = known != by_name_.end() ? known->second.elements
                           : row != nullptr        ? row->elements
                                                   : call.values.elements();
  if (expected != call.values.elements()) {
    return absl::InvalidArgumentError(absl::StrCat("key '", call.name, "' has ", expected, " elements, but worker ",
                                                   call.worker.value(), " initialises it with ",
                                                   call.values.elements()));
  }
  if (!HasInit(call.name, call.worker)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("worker ", call.worker.value(), " has initialised key '", call.name, "' already"));
}

LocalKey& LocalKeys::TakeInit(WorkerInit& call) {
  const auto [entry, is_new] = by_name_.try_emplace(call.name);
  LocalKey& local = entry->second;
  if (is_new) {
    local.name = call.name;
    local.elements = call.values.elements();
    local.init_values.resize(workers_);
    local.has_init.resize(workers_);
    local.last_push.resize(workers_);
  }
  local.init_values[call.worker.value()] = std::move(call.values);
  local.has_init[call.worker.value()] = true;
  local.init_requests.push_back(call.request);
  ++local.initialised;
  return local;
}

bool LocalKeys::HasInit(const std::string& name, WorkerId worker) const {
  const auto known = by_name_.find(name);
  return known != by_name_.end() && known->second.has_init[worker.value()];
}

LocalKeys::Assigned LocalKeys::Assign(const std::vector<std::string>& names) {
  Assigned assigned;
  for (const std::string& name : names) {
    const auto known = by_name_.find(name);
    const KeySlice* row = book_->FindKey(name);
    if (row == nullptr || known == by_name_.end() || known->second.init_contributed) continue;
    LocalKey& local = known->second;
    assigned.answered.push_back(name);
    if (row->elements != local.elements) {
      assigned.refused.push_back(
          {name, absl::StrCat("the job's has ", row->elements, " elements, this worker's ", local.elements)});
      continue;
    }
    local.key = row->key;
    by_key_[row->key] = &local;
    if (local.initialised == workers_) assigned.ready.push_back(&local);
  }
  return assigned;
}

std::vector<RequestId> LocalKeys::Remove(const std::string& name) {
  const auto entry = by_name_.find(name);
  if (entry == by_name_.end() || entry->second.init_contributed) return {};
  std::vector<RequestId> requests = std::move(entry->second.init_requests);
  by_key_.erase(entry->second.key);
  by_name_.erase(entry);
  return requests;
}

void LocalKeys::DropRounds() {
  for (auto& [name, local] : by_name_) {
    local.init_requests.clear();
    local.init_values.clear();
    local.rounds.clear();
  }
}

LocalKey* LocalKeys::Find(KeyId key) {
  const auto entry = by_key_.find(key);
  return entry == by_key_.end() ? nullptr : entry->second;
}

absl::StatusOr<LocalKey*> LocalKeys::FindInitialised(KeyId key) {
  LocalKey* const local = Find(key);
  if (local != nullptr && local->init_contributed) return local;
  return absl::FailedPreconditionError(absl::StrCat("key ", key.value(), " was not initialised here: call Init first"));
}

int64_t LocalKeys::initialised_elements() const {
  int64_t elements = 0;
  for (const auto& [name, local] : by_name_) elements += local.initialised * local.elements;
  return elements;
}

std::vector<NodeReport::KeyProgress> LocalKeys::Progress() const {
  std::vector<NodeReport::KeyProgress> progress;
  for (const auto& [key, local] : by_key_) {
    const Round pushed = *std::max_element(local->last_push.begin(), local->last_push.end());
    progress.push_back({key, local->last_complete, pushed});
  }
  return progress;
}

}  // namespace banyan
