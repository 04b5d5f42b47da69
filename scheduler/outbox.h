// Collects the actions of a step. Thread-compatible; owned by SchedulerContext.
//
// Invariants:
// - A message leaves when every record that was made before it is durable: whoever hears of a binding, a key or a term
//   can rely on it after a restart of the scheduler. Urgent messages wait only for the first record, the term.
// - Messages that wait leave in their order.
#ifndef BANYAN_SCHEDULER_OUTBOX_H_
#define BANYAN_SCHEDULER_OUTBOX_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/message.h"
#include "protocol/action.h"
#include "protocol/computation.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {

class Outbox {
 public:
  // Asks for a record to be made durable. Records are numbered from 1 upwards; the first one is the scheduler's term.
  void Persist(Timestamp now, std::string bytes) { Add(now, std::move(bytes), /*is_snapshot=*/false); }
  // Asks for a snapshot to take the place of all records so far. It counts as a record.
  void PersistSnapshot(Timestamp now, std::string bytes) { Add(now, std::move(bytes), /*is_snapshot=*/true); }
  // Sends the messages that waited for the record, which is durable now. An unknown record changes nothing.
  void Persisted(RecordId record);

  // Sends when all records so far are durable, in order.
  void Send(ConnectionId connection, Message message);
  // Sends a message that reveals nothing but the term: a slow disk must not look like a dead scheduler.
  void SendUrgent(ConnectionId connection, Message message);
  void StartComputation(ComputationId id, std::unique_ptr<Computation> computation);
  void Log(LogLevel level, std::string text);
  void Stop(absl::Status status);
  // Has the driver let in those who own these keys, and nobody else, once all records so far are durable and all
  // messages so far have left: whoever is sent away hears first what was said to it.
  void Admit(std::vector<ListedKey> keys);
  // Ends a connection.
  void Close(ConnectionId connection);

  // Returns whether no record is on its way to the storage.
  bool IsAllDurable() const { return pending_.empty(); }
  // Returns whether this record and all before it are durable, so that messages that were sent after it have left.
  bool IsDurable(RecordId record) const { return pending_.empty() || record < pending_.begin()->first; }
  RecordId last_record() const { return last_record_; }
  // Returns since when the oldest record that is not durable has been on its way; kNever without one.
  Timestamp waits_since() const { return pending_.empty() ? kNever : pending_.begin()->second; }
  // Forgets the messages that wait: the job has failed and they mean nothing any more. Answers to operators stay, since
  // nobody else tells them what came of their orders.
  void DropHeld();
  // Forgets all that wait and closes the connections that they were for, which it returns: who dials again is told
  // anew.
  std::set<ConnectionId> CloseHeld();
  size_t held_messages() const { return held_.size(); }
  // About the memory that they take.
  size_t held_bytes() const { return held_bytes_; }
  // Returns whether no more wait than kMaxHeldMessages, and the most bytes: kMaxHeldBytes unless others were set.
  bool has_room() const { return held_.size() <= kMaxHeldMessages && held_bytes_ <= most_bytes_; }
  void set_most_bytes(size_t most_bytes) { most_bytes_ = most_bytes; }

  // Returns the actions since the last call.
  Actions Take();

 private:
  struct Held {
    RecordId record;   // the newest one before it
    Action action;     // a Send or an Admit
    size_t bytes = 0;  // of a message
  };

  void Add(Timestamp now, std::string bytes, bool is_snapshot);
  void HoldOrEmit(Action action);
  // Forgets the messages that wait and that `is_void`.
  void DropHeld(absl::FunctionRef<bool(const Message&)> is_void);

  RecordId last_record_;
  std::map<RecordId, Timestamp> pending_;  // since when
  std::deque<Held> held_;
  size_t held_bytes_ = 0;
  size_t most_bytes_ = kMaxHeldBytes;
  Actions actions_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_OUTBOX_H_
