// The table of all calls of a node's workers, between their connections and the protocol thread: gives calls their
// request ids, posts them as events and copies results into the workers' memory, large ones on the compute pool. Passes
// on what the core tells workers unasked.
//
// Thread-safe. Shared by the host and by workers' connections, which may outlive it.
//
// Invariants:
// - Each request ends exactly once, and only when all its copies are done; that of a worker that was detached does not
//   end, as nobody waits for it, and holds nothing any more.
// - A result's slot is free before its request ends.
// - The core has one attach of a worker at a time. So a process that takes a dead one's place is attached after the
// dead
//   one was detached.
// - A worker has at most kMaxWaitingCalls calls and kMostQuestions questions here.
// - After Close every request ends at once.
// - Who is attached is the core's to say: a worker is told of rounds from the success of its Attach until its Detach.
#ifndef BANYAN_RUNTIME_WORKERS_WORKER_REQUESTS_H_
#define BANYAN_RUNTIME_WORKERS_WORKER_REQUESTS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "protocol/action.h"
#include "protocol/event.h"
#include "protocol/state_call.h"
#include "protocol/worker_call.h"
#include "runtime/compute_pool.h"
#include "runtime/event_queue.h"

namespace banyan {

// Of one worker: it starts no more, and one that does so all the same loses its connection.
inline constexpr int kMaxWaitingCalls = 262144;
// Of one worker, for whom it waits.
inline constexpr int kMostQuestions = 4096;

class WorkerRequests : public std::enable_shared_from_this<WorkerRequests> {
 public:
  // Runs once per request, on any thread, without locks held.
  using Done = std::function<void(const CompleteRequest&)>;
  // Tell an attached worker what it has not asked for; run on any thread, without locks held.
  struct Notices {
    std::function<void(KeyId, Round)> round_complete;        // as NotifyRoundComplete
    std::function<void(const absl::Status&)> job_ended;      // as NotifyJobEnded, or when the requests closes
    std::function<void(const StateTask&)> state_task = {};   // of this worker, or of all
    std::function<void(const NotifyMembers&)> members = {};  // at first as soon as it is attached
    std::string process = {};                                // the worker, in words; empty: unknown
  };

  // `pool` is used until Close returns.
  WorkerRequests(std::shared_ptr<EventQueue> queue, ComputePool& pool);

  // Posts a WorkerAttach, once an earlier one of the same worker has ended. When it succeeds, the worker gets `notices`
  // before `done` runs.
  void Attach(WorkerId worker, Notices notices, Done done);
  // Posts what `make` gives for the new request id, a call of the worker. `result` is the memory that results are
  // written into; empty for requests without one. RESOURCE_EXHAUSTED when too many of the worker wait.
  absl::Status Call(WorkerId worker, Buffer result, const std::function<Event(RequestId)>& make, Done done);
  // Posts what the worker asks about its calls, likewise: no call, so that a good-bye does not wait for it.
  absl::Status Ask(WorkerDescribeWait question, Done done);
  // Posts what a worker says of a training state and no request ends.
  void PostState(StateCall call);
  // Posts a WorkerDetach, and forgets the worker's requests, whatever the core says of them later. It is a clean one if
  // the worker `said_good_bye` and none of its calls waits. REQUIRES: the worker's Attach has succeeded.
  void Detach(WorkerId worker, bool said_good_bye);
  // Returns the `process` of who is attached as this worker; empty when nobody is, or it is unknown.
  std::string AttachedBy(WorkerId worker);

  // For the protocol thread, in the order of the actions.
  void Write(WriteResult write);
  void Complete(CompleteRequest complete);
  void Notify(const NotifyRoundComplete& told);
  void Notify(const NotifyJobEnded& told);
  void Notify(NotifyMembers told);
  // Hands the task to its worker. Workers that are attached later are held as well.
  void Ask(const StateTask& task);
  // Ends all waiting and later requests with `status`, and tells all workers.
  void Close(absl::Status status);

 private:
  struct Request {
    WorkerId worker;
    bool is_question = false;
    Buffer result;
    int copies = 0;  // under way
    absl::Status copy_status;
    std::optional<CompleteRequest> complete;
    std::shared_ptr<const Notices> attaching;  // of an attach: shared with workers_ and with a notice under way
    Done done;
  };

  // Requests of one worker in the table.
  struct Load {
    int calls = 0;
    int questions = 0;
  };

  // Posts the request unless this is closed or the worker has too many.
  absl::Status Begin(Request request, const std::function<Event(RequestId)>& make);
  // Post the request; the mutex is held.
  void Start(Request request, const std::function<Event(RequestId)>& make);
  void StartAttach(Request request);
  int& LoadOf(const Request& request);
  // Notes that a request has left the table.
  void Unload(const Request& request);
  // Ends a request that was not posted, or that nobody ends any more.
  static void End(Request request, const absl::Status& status);
  // Gives the core the next attach of the worker, one of whose has ended.
  void AttachNext(WorkerId worker);
  void Copied(RequestId request);
  void Finish(std::unique_lock<std::mutex> lock, std::map<RequestId, Request>::iterator request);

  // Shared with computations that may finish late.
  const std::shared_ptr<EventQueue> queue_;
  ComputePool& pool_;
  std::mutex mutex_;
  RequestId next_ = RequestId(1);  // guarded by mutex_, as all below
  std::map<RequestId, Request> requests_;
  std::map<WorkerId, Load> loads_;
  std::map<WorkerId, std::deque<Request>> attaching_;           // behind the attach that the core has
  std::map<WorkerId, std::shared_ptr<const Notices>> workers_;  // attached
  absl::Status closed_;                                         // not OK once closed
  bool is_held_ = false;                                        // workers wait at boundaries
  std::optional<NotifyMembers> members_;                        // of whom workers were told last
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_WORKER_REQUESTS_H_
