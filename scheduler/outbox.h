// Collects the actions of a step and holds messages back until every record that was made before them is durable:
// whoever hears of a binding, a key or a term can rely on it after a restart of the scheduler. Thread-compatible; owned
// by the core.
#ifndef BANYAN_SCHEDULER_OUTBOX_H_
#define BANYAN_SCHEDULER_OUTBOX_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "core/action.h"
#include "core/computation.h"
#include "core/ids.h"
#include "proto/message.h"

namespace banyan {

class Outbox {
 public:
  // Records are numbered from 1 upwards. The first one is the scheduler's term.
  void Persist(std::string bytes);
  // Lets go what waited for it. An unknown record changes nothing.
  void Persisted(RecordId record);

  // Sent when all records so far are durable, in order.
  void Send(ConnectionId connection, Message message);
  // For messages that reveal nothing but the term: a slow disk must not look like a dead scheduler.
  void SendUrgent(ConnectionId connection, Message message);
  void StartComputation(ComputationId id, std::unique_ptr<Computation> computation);
  void Log(LogLevel level, std::string text);
  void Stop(absl::Status status);

  // Forgets the messages that wait: the job has failed and they mean nothing any more.
  void DropHeld() { held_.clear(); }
  size_t held_messages() const { return held_.size(); }

  // The actions since the last call.
  Actions Take();

 private:
  struct Held {
    RecordId record;  // the newest one before it
    ConnectionId connection;
    Message message;
  };

  bool IsDurable(RecordId record) const { return pending_.empty() || record < *pending_.begin(); }
  void Emit(ConnectionId connection, Message message);

  RecordId last_record_;
  std::set<RecordId> pending_;
  std::deque<Held> held_;
  Actions actions_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_OUTBOX_H_
