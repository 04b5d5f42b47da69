// What a banyan_session and a banyan_ticket of C are: a session that can be closed while other threads call it, and an
// operation whose handle may go before its end does. Thread-safe; owned by the caller, through the C interface.
//
// Invariants:
// - The session lives while a call uses it.
// - A ticket that is released before its operation is done stays until then: no release waits.
#ifndef BANYAN_RUNTIME_C_API_SESSION_HANDLE_H_
#define BANYAN_RUNTIME_C_API_SESSION_HANDLE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/data_type.h"
#include "posix/home_process.h"
#include "runtime/c_api/banyan.h"
#include "runtime/session/session.h"

namespace banyan {

// Ends of operations that wait to be told, with a descriptor that is readable while there are any. Thread-safe; shared
// by a session's handle and its operations.
class CompletionQueue {
 public:
  struct End {
    uint64_t tag = 0;
    int code = 0;
  };

  CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;
  ~CompletionQueue();

  // An eventfd; below zero where the system gave none.
  int descriptor() const { return descriptor_; }
  void Add(End end);
  // Says that nothing comes any more.
  void Close();
  // Takes the first ones, at most `capacity`, and waits for the first up to `timeout`. Errors: DEADLINE_EXCEEDED;
  // CANCELLED when it is closed and empty.
  absl::StatusOr<std::vector<End>> Take(size_t capacity, absl::Duration timeout);

 private:
  const int descriptor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<End> ends_;  // guarded by mutex_, as all below
  bool closed_ = false;
};

// An operation, of its handle and of its end.
struct TicketRecord {
  Ticket ticket;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;  // guarded by mutex

  // Waits for the end; returns whether it has come.
  bool Poll(absl::Duration timeout);
};

class SessionHandle {
 public:
  explicit SessionHandle(std::unique_ptr<Session> session);
  SessionHandle(const SessionHandle&) = delete;
  SessionHandle& operator=(const SessionHandle&) = delete;
  // Closes.
  ~SessionHandle();

  bool IsHere() const { return home_.IsHere(); }
  const std::string& node_name() const { return node_name_; }
  const std::string& aggregation_op() const { return aggregation_op_; }
  bool may_leave_out() const { return may_leave_out_; }
  // Null in a forked child.
  CompletionQueue* queue() const;
  // Runs `use`. Errors: its own; FAILED_PRECONDITION in a forked child; CANCELLED when the session is closed.
  absl::Status Use(absl::FunctionRef<absl::Status(Session& session)> use);
  // Starts an operation by `start`, which is given its callback and the type of its tensors, and puts its handle in
  // `ticket`, which may be null.
  int Start(const banyan_call_options* options, banyan_ticket** ticket,
            absl::FunctionRef<Ticket(Session& session, PushOptions options, DataType type)> start);
  // Ends the session and the calls that other threads are in. DEADLINE_EXCEEDED when they still use it after `timeout`.
  // In order, or as a process that dies.
  absl::Status Close(absl::Duration timeout, bool in_order = true);

 private:
  DoneCallback CallbackOf(const banyan_call_options& options, std::shared_ptr<TicketRecord> record) const;

  const HomeProcess home_;
  const std::string node_name_;
  const std::string aggregation_op_;
  const bool may_leave_out_;
  const std::shared_ptr<CompletionQueue> queue_;  // shared with the operations
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Session> session_;  // guarded by mutex_, as all below; null once closed
  int users_ = 0;
  bool closing_ = false;
};

}  // namespace banyan

struct banyan_ticket {
  std::shared_ptr<banyan::TicketRecord> record;  // shared with the operation until it is done
};

struct banyan_session {
  banyan::SessionHandle handle;
};

#endif  // BANYAN_RUNTIME_C_API_SESSION_HANDLE_H_
