// How keys come to be: workers' Init calls, the scheduler's answer, this node's part of round 0.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/worker_desk.h"

namespace banyan {
namespace {

constexpr size_t kLongestKeyName = 256;

}  // namespace

absl::Status WorkerDesk::CheckInit(const WorkerInit& call) const {
  if (call.name.empty() || call.name.size() > kLongestKeyName) {
    return absl::InvalidArgumentError(
        absl::StrCat("a key's name has 1 to ", kLongestKeyName, " bytes, got ", call.name.size()));
  }
  if (call.values.empty() || call.values.type() != DataType::kFloat32) {
    return absl::InvalidArgumentError(absl::StrCat("key '", call.name, "': expected at least one float32 element"));
  }
  auto known = keys_.find(call.name);
  const KeySlice* row = book_->FindKey(call.name);
  const int64_t expected = known != keys_.end() ? known->second.elements
                           : row != nullptr     ? row->elements
                                                : call.values.elements();
  if (expected != call.values.elements()) {
    return absl::InvalidArgumentError(absl::StrCat("key '", call.name, "' has ", expected, " elements, but worker ",
                                                   call.worker.value(), " initialises it with ",
                                                   call.values.elements()));
  }
  if (known != keys_.end() && known->second.has_init[call.worker.value()]) {
    return absl::AlreadyExistsError(
        absl::StrCat("worker ", call.worker.value(), " has initialised key '", call.name, "' already"));
  }
  for (uint32_t other = 0; other < workers_.size(); ++other) {
    const bool has_init = known != keys_.end() && known->second.has_init[other];
    if (workers_[other].state == WorkerState::kDone && !has_init)
      return HasLeft(absl::StrCat("init of key '", call.name, "'"), other);
  }
  return absl::OkStatus();
}

void WorkerDesk::On(StepContext& step, WorkerInit& call) {
  absl::Status sound = CheckInit(call);
  if (!sound.ok()) return Complete(step, call.request, std::move(sound));
  auto [entry, is_new] = keys_.try_emplace(call.name);
  LocalKey& local = entry->second;
  if (is_new) {
    local.name = call.name;
    local.elements = call.values.elements();
    local.init_values.resize(workers_.size());
    local.has_init.resize(workers_.size());
    local.last_push.resize(workers_.size());
    if (book_->FindKey(call.name) == nullptr) scheduler_->RegisterKey(call.name, local.elements);
  }
  local.init_values[call.worker.value()] = std::move(call.values);
  local.has_init[call.worker.value()] = true;
  local.init_requests.push_back(call.request);
  ++local.initialised;
  OnKeysAssigned(step);
}

void WorkerDesk::OnKeysAssigned(StepContext& step) {
  std::vector<std::pair<std::string, std::string>> refused;
  for (auto& [name, local] : keys_) {
    const KeySlice* row = book_->FindKey(name);
    if (row == nullptr || local.init_contributed) continue;
    scheduler_->OnKeyAnswered(name);
    if (row->elements != local.elements) {
      refused.emplace_back(name,
                           absl::StrCat("the job's has ", row->elements, " elements, this worker's ", local.elements));
      continue;
    }
    local.key = row->key;
    by_key_[row->key] = &local;
    if (local.initialised == workers_.size()) ContributeInit(step, local);
  }
  for (const auto& [name, reason] : refused) OnKeyRefused(step, name, reason);
}

void WorkerDesk::ContributeInit(StepContext& step, LocalKey& local) {
  local.init_contributed = true;
  LocalRound& round = local.rounds[Round(0)];
  round.kind = RoundKind::kBroadcast;
  round.waiting = std::move(local.init_requests);
  Contribution contribution;
  contribution.kind = RoundKind::kBroadcast;
  if (book_->FindKey(local.key)->source == self_) {
    contribution.values = local.init_values.front();
    contribution.weight = 1;
  }
  local.init_values.clear();
  engine_->Contribute(step, local.key, Round(0), std::move(contribution));
}

void WorkerDesk::OnKeyRefused(StepContext& step, const std::string& name, const std::string& reason) {
  scheduler_->OnKeyAnswered(name);
  auto entry = keys_.find(name);
  if (entry == keys_.end() || entry->second.init_contributed) return;
  for (RequestId request : entry->second.init_requests) {
    Complete(step, request, absl::InvalidArgumentError(absl::StrCat("key '", name, "' was refused: ", reason)));
  }
  by_key_.erase(entry->second.key);
  keys_.erase(entry);
}

}  // namespace banyan
