#include "node/workers/local_keys.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compression/element_types.h"

namespace banyan {
namespace {

constexpr size_t kLongestKeyName = 256;

void AddTo(Buffer& whole, const MissedResults::Parts& parts) {
  for (const auto& [first_element, values] : parts) {
    Buffer to = whole.Slice(first_element, values.elements());
    AddInto(PlainChunk(values, 1), to);
  }
}

}  // namespace

void MissedResults::Add(Round round, Parts result, int64_t elements, bool replaces) {
  through_ = round;
  if (std::exchange(is_given_, false) || replaces || parts_.empty()) {
    parts_ = std::move(result);
    return;
  }
  const DataType type = parts_.front().second.type();
  Buffer whole = Buffer::Allocate(elements, type);
  AddTo(whole, parts_);
  AddTo(whole, result);
  parts_ = {{0, std::move(whole)}};
}

void MissedResults::Give(int64_t elements, DataType type, Sink sink) {
  is_given_ = true;
  if (parts_.empty()) parts_ = {{0, Buffer::Allocate(elements, type)}};
  for (const auto& [first_element, values] : parts_) sink(first_element, values);
}

void MissedResults::OnPushed(bool replaces) {
  if (is_given_ && !replaces) parts_.clear();
  is_given_ = false;
}

int64_t MissedResults::size_bytes() const {
  int64_t bytes = 0;
  for (const auto& [first_element, values] : parts_) bytes += values.size_bytes();
  return bytes;
}

std::vector<Buffer> LocalRound::TakeParts(uint32_t workers) {
  contributed = true;
  in_sum.resize(workers);
  for (uint32_t worker = 0; worker < workers; ++worker) in_sum[worker] = in_sum[worker] || has_pushed[worker];
  std::vector<Buffer> parts = std::exchange(taken_back, {});
  for (Buffer& gradient : std::exchange(gradients, {})) parts.push_back(std::move(gradient));
  std::erase_if(parts, [](const Buffer& part) { return part.empty(); });
  return parts;
}

void LocalRound::TakeBack(std::vector<Buffer> values) {
  contributed = false;
  taken_back = std::move(values);
  gradients.clear();
  gradients.resize(has_pushed.size());
}

absl::Status LocalKey::CheckShape(WorkerId worker, const Buffer& values) const {
  if (values.type() == layout.type && values.elements() == elements) return absl::OkStatus();
  const std::string came = values.type() == layout.type ? "" : absl::StrCat(" of ", NameOf(values.type()));
  return absl::InvalidArgumentError(absl::StrCat("key '", name, "' has ", elements, " ", NameOf(layout.type),
                                                 " elements, but worker ", worker.value(), " gave ", values.elements(),
                                                 came));
}

absl::Status LocalKey::CheckPart(WorkerId worker, const Buffer& values, RoundKind kind, AggregationOp op) const {
  if (absl::Status status = CheckShape(worker, values); !status.ok() || kind == RoundKind::kBroadcast) return status;
  const bool is_reduced = ReductionOf(layout.type) != Reduction::kOfJob;
  const bool is_sum = op == AggregationOp::kSum || is_reduced || (op == AggregationOp::kMean && HasMean(layout.type));
  if (is_sum || CanBeStepped()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("key '", name, "' is of ", NameOf(layout.type), ", of which the job's aggregation makes no ",
                   op == AggregationOp::kMean ? "mean" : "optimizer's step",
                   "; give it as float32, broadcast it, or run a job with aggregation: {op: sum}"));
}

uint32_t LocalKey::initialised() const { return std::count(has_init.begin(), has_init.end(), true); }

bool LocalKey::HasTakers() const {
  for (size_t worker = 0; worker < has_init.size(); ++worker) {
    if (has_init[worker] && last_push[worker] != kFetching) return true;
  }
  return false;
}

bool LocalKey::HasFetching() const {
  for (size_t worker = 0; worker < has_init.size(); ++worker) {
    if (has_init[worker] && last_push[worker] == kFetching) return true;
  }
  return false;
}

Round LocalKey::FirstAwaited() const {
  Round first = waits_from;
  for (size_t worker = 0; worker < has_init.size(); ++worker) {
    if (has_init[worker] && last_push[worker] != kFetching) first = std::min(first, PositionOf(worker).Next());
  }
  return first;
}

bool LocalKey::IsWhole(Round round) const {
  if (round >= waits_from) return false;
  const auto state = rounds.find(round);
  if (state == rounds.end() || state->second.contributed) return false;
  if (state->second.pushed == 0 && state->second.late == 0) return false;
  for (size_t worker = 0; worker < has_init.size(); ++worker) {
    if (has_init[worker] && PositionOf(worker) < round) return false;
  }
  return true;
}

std::vector<RequestId> LocalKey::DropWorker(WorkerId worker, bool keeps_pushes) {
  std::vector<RequestId> requests;
  const auto drop_calls = [&](std::vector<WaitingCall>& calls) {
    for (const WaitingCall& call : calls) {
      if (call.worker == worker) requests.push_back(call.request);
    }
    std::erase_if(calls, [worker](const WaitingCall& call) { return call.worker == worker; });
  };
  has_init[worker.value()] = false;
  ForgetLate(worker.value());
  if (last_push[worker.value()] == kFetching) last_push[worker.value()] = Round(0);
  init_values[worker.value()] = Buffer();
  drop_calls(init_requests);
  for (auto& [round, state] : rounds) {
    drop_calls(state.waiting);
    if (!state.HasPart(worker)) continue;
    if (state.contributed) {
      // Another worker of this number has no part in it.
      state.has_pushed[worker.value()] = false;
    } else if (!keeps_pushes) {
      state.has_pushed[worker.value()] = false;
      // What others may have in their sums already is not taken out of this one.
      if (state.gradients[worker.value()].empty()) continue;
      state.gradients[worker.value()] = Buffer();
      --state.pushed;
    }
  }
  std::erase_if(rounds, [](const auto& round) {
    const LocalRound& state = round.second;
    return !state.contributed && !state.complete && state.pushed == 0 && state.late == 0 && state.waiting.empty();
  });
  return requests;
}

LocalRound& LocalKey::OpenRound(Round round, RoundKind kind, uint32_t workers) {
  const auto [entry, is_new] = rounds.try_emplace(round);
  LocalRound& state = entry->second;
  if (!is_new && !state.has_pushed.empty()) return state;
  state.kind = kind;
  state.gradients.resize(workers);
  state.has_pushed.resize(workers);
  state.asked.resize(workers);
  return state;
}

void LocalKey::DropOldRounds() {
  Round oldest(UINT64_MAX);
  for (size_t worker = 0; worker < has_init.size(); ++worker) {
    if (has_init[worker]) oldest = std::min(oldest, PositionOf(worker));
  }
  while (!rounds.empty() && rounds.begin()->first < oldest && rounds.begin()->second.complete) {
    rounds.erase(rounds.begin());
  }
}

bool LocalKeys::IsName(const std::string& name) { return !name.empty() && name.size() <= kLongestKeyName; }

absl::Status LocalKeys::CheckInit(const WorkerInit& call) const {
  if (!IsName(call.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a key's name has 1 to ", kLongestKeyName, " bytes, got ", call.name.size()));
  }
  if (call.values.empty() || call.values.type() != call.layout.type) {
    return absl::InvalidArgumentError(
        absl::StrCat("key '", call.name, "': expected at least one ", NameOf(call.layout.type), " element"));
  }
  const auto known = by_name_.find(call.name);
  if (known != by_name_.end() && !known->second.HasShapeOf(call)) {
    const auto [had, came] =
        DescribeDifference({known->second.elements, known->second.layout}, {call.values.elements(), call.layout});
    return absl::InvalidArgumentError(absl::StrCat("key '", call.name, "' has ", had, ", but worker ",
                                                   call.worker.value(), " initialises it with ", came));
  }
  if (!HasInit(call.name, call.worker)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("worker ", call.worker.value(), " has initialised key '", call.name, "' already"));
}

LocalKey& LocalKeys::TakeInit(Timestamp now, WorkerInit& call) {
  const auto [entry, is_new] = by_name_.try_emplace(call.name);
  LocalKey& local = entry->second;
  if (is_new) {
    local.name = call.name;
    local.elements = call.values.elements();
    local.layout = std::move(call.layout);
    local.layout_hash = local.layout.Hash();
    local.init_values.resize(workers_);
    local.has_init.resize(workers_);
    local.last_push.resize(workers_);
    local.late_through.resize(workers_);
    local.left_out_since.resize(workers_);
  }
  local.init_values[call.worker.value()] = std::move(call.values);
  local.has_init[call.worker.value()] = true;
  if (local.init_requests.empty()) local.init_since = now;
  local.init_requests.push_back({call.worker, call.request});
  return local;
}

bool LocalKeys::HasInit(const std::string& name, WorkerId worker) const {
  const auto known = by_name_.find(name);
  return known != by_name_.end() && known->second.has_init[worker.value()];
}

LocalKeys::Assigned LocalKeys::Assign(const std::vector<std::string>& names,
                                      absl::FunctionRef<bool(WorkerId)> is_awaited) {
  Assigned assigned;
  for (const std::string& name : names) {
    const auto known = by_name_.find(name);
    const KeySlice* row = policy_table_->FindKey(name);
    if (row == nullptr || known == by_name_.end() || known->second.takes_part) continue;
    LocalKey& local = known->second;
    if (local.is_asked || !local.HasShapeOf(*row)) continue;
    assigned.answered.push_back(name);
    local.key = row->key;
    by_key_[row->key] = &local;
    bool is_ready = local.initialised() > 0;
    for (uint32_t worker = 0; worker < workers_; ++worker) {
      is_ready = is_ready && (local.has_init[worker] || !is_awaited(WorkerId(worker)));
    }
    if (is_ready) assigned.ready.push_back(&local);
  }
  return assigned;
}

std::vector<RequestId> LocalKeys::Remove(const std::string& name) {
  const auto entry = by_name_.find(name);
  if (entry == by_name_.end() || entry->second.takes_part) return {};
  std::vector<RequestId> requests;
  for (const WaitingCall& call : entry->second.init_requests) requests.push_back(call.request);
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

const LocalKey* LocalKeys::Find(KeyId key) const {
  const auto entry = by_key_.find(key);
  return entry == by_key_.end() ? nullptr : entry->second;
}

LocalKey* LocalKeys::Find(const std::string& name) {
  const auto entry = by_name_.find(name);
  return entry == by_name_.end() ? nullptr : &entry->second;
}

const LocalKey* LocalKeys::Find(const std::string& name) const {
  const auto entry = by_name_.find(name);
  return entry == by_name_.end() ? nullptr : &entry->second;
}

absl::StatusOr<LocalKey*> LocalKeys::FindInitialised(KeyId key, WorkerId worker) {
  LocalKey* const local = Find(key);
  if (local != nullptr && local->takes_part && local->has_init[worker.value()]) {
    if (local->last_push[worker.value()] != LocalKey::kFetching) return local;
    return absl::FailedPreconditionError(absl::StrCat(
        "worker ", worker.value(), " does not have the training state, which is past round ",
        std::max<uint64_t>(local->next_contribution.value(), 1) - 1, " of key '", local->name,
        "': get it from the others first, by ShareState and FetchState (in Python bt.State(...).sync()); a program "
        "without such a state says so by ShareState of no parts"));
  }
  return absl::FailedPreconditionError(absl::StrCat("key ", key.value(), " was not initialised here: call Init first"));
}

int64_t LocalKeys::SegmentBytes(uint32_t rounds_in_flight) const {
  int64_t bytes = 0;
  for (const auto& [name, local] : by_name_) bytes += local.initialised() * local.elements * SizeOf(local.layout.type);
  return bytes * (2 * int64_t{rounds_in_flight} + 1);
}

std::vector<NodeReport::KeyProgress> LocalKeys::Progress() const {
  std::vector<NodeReport::KeyProgress> progress;
  for (const auto& [key, local] : by_key_) {
    Round pushed;
    for (Round last : local->last_push) pushed = std::max(pushed, last == LocalKey::kFetching ? Round(0) : last);
    progress.push_back({key, local->last_complete, pushed});
  }
  return progress;
}

}  // namespace banyan
