// Follows the state that the scheduler makes durable, and says when a snapshot of it is due: what a store holds stays
// bounded however long a job runs. Thread-compatible; owned by the core.
//
// Invariants:
// - state() is what a restart would recover once all records so far are durable, but for the rounds: JobRounds has
//   their ledger, and changes it as it makes the records.
// - Records after the last snapshot amount to kTailFactor times its bytes, or to least_tail_bytes, before another is
//   due. A short record may speak of many keys: so that a restart stays fast, another is due as well when records have
//   spoken of kMostTailEntries rounds of keys, or of kEntriesPerKey of each key.
#ifndef BANYAN_SCHEDULER_STATE_STATE_LOG_H_
#define BANYAN_SCHEDULER_STATE_STATE_LOG_H_

#include <cstddef>
#include <string>
#include <utility>

#include "scheduler/state/recovered_state.h"
#include "scheduler/state/state_record.h"

namespace banyan {

class StateLog {
 public:
  static constexpr size_t kLeastTailBytes = size_t{256} << 10;
  static constexpr size_t kTailFactor = 2;
  static constexpr size_t kMostTailEntries = size_t{1} << 18;
  static constexpr size_t kEntriesPerKey = 8;

  explicit StateLog(size_t least_tail_bytes = kLeastTailBytes) : least_tail_bytes_(least_tail_bytes) {}

  // Begins with what `stored` has led to, but for the rounds.
  void Restore(RecoveredState state, const StoredRecords& stored);
  // Takes a record of the scheduler's own, and returns its encoding, which is to be made durable.
  std::string Append(const StateRecord& record);
  bool IsSnapshotDue() const;
  // Returns the snapshot that takes the place of all records so far, which have led to these `rounds`.
  std::string TakeSnapshot(const RoundLedger& rounds);

  const RecoveredState& state() const { return state_; }

 private:
  const size_t least_tail_bytes_;
  RecoveredState state_;
  size_t snapshot_bytes_ = 0;
  size_t tail_bytes_ = 0;
  size_t tail_entries_ = 0;  // bindings and closed rounds of the records after the snapshot
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_STATE_LOG_H_
