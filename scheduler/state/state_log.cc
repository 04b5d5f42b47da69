#include "scheduler/state/state_log.h"

#include <algorithm>
#include <variant>

#include "core/check.h"

namespace banyan {
namespace {

// What a store adds to a record, about.
constexpr size_t kRecordOverheadBytes = 20;

size_t EntriesIn(const StateRecord& record) {
  if (const auto* bindings = std::get_if<BindingsRecord>(&record); bindings != nullptr) {
    return bindings->bindings.size();
  }
  if (const auto* cut = std::get_if<CutRecord>(&record); cut != nullptr) return cut->rounds.size();
  const auto* closed = std::get_if<ClosedRecord>(&record);
  return closed == nullptr ? 0 : closed->rounds.size();
}

}  // namespace

void StateLog::Restore(RecoveredState state, const StoredRecords& stored) {
  state_ = std::move(state);
  snapshot_bytes_ = stored.snapshot.size();
  tail_bytes_ = 0;
  tail_entries_ = 0;
  for (const std::string& bytes : stored.tail) {
    tail_bytes_ += bytes.size() + kRecordOverheadBytes;
    const absl::StatusOr<StateRecord> record = DecodeStateRecord(bytes);
    if (record.ok()) tail_entries_ += EntriesIn(*record);
  }
}

std::string StateLog::Append(const StateRecord& record) {
  BANYAN_CHECK(ApplyButRounds(record, state_).ok());
  std::string bytes = EncodeStateRecord(record);
  tail_bytes_ += bytes.size() + kRecordOverheadBytes;
  tail_entries_ += EntriesIn(record);
  return bytes;
}

bool StateLog::IsSnapshotDue() const {
  return tail_bytes_ > std::max(least_tail_bytes_, kTailFactor * snapshot_bytes_) ||
         tail_entries_ > std::max(kMostTailEntries, kEntriesPerKey * state_.keys.size());
}

std::string StateLog::TakeSnapshot(const RoundLedger& rounds) {
  state_.RetirePolicies(rounds);
  RecoveredState whole = state_;
  // A job that is over leaves none.
  if (whole.is_running()) whole.rounds = rounds;
  std::string snapshot = MakeSnapshot(std::move(whole));
  snapshot_bytes_ = snapshot.size();
  tail_bytes_ = 0;
  tail_entries_ = 0;
  return snapshot;
}

}  // namespace banyan
