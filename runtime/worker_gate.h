// Between workers' connections and the protocol thread: gives requests their ids, posts them as events, copies results
// into the workers' memory (large ones on the compute pool), and ends each request only when all its copies are done.
//
// Thread-safe. Shared by the host and by workers' connections, which may outlive it: after Close every request ends at
// once.
#ifndef BANYAN_RUNTIME_WORKER_GATE_H_
#define BANYAN_RUNTIME_WORKER_GATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "core/action.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "core/worker_call.h"
#include "runtime/compute_pool.h"
#include "runtime/event_queue.h"

namespace banyan {

class WorkerGate : public std::enable_shared_from_this<WorkerGate> {
 public:
  // Runs once per request, on any thread, without locks held.
  using Done = std::function<void(const CompleteRequest&)>;

  // `pool` is used until Close returns.
  WorkerGate(std::shared_ptr<EventQueue> queue, ComputePool& pool);

  // A worker id belongs to one connection at a time: ALREADY_EXISTS when it is taken. Once closed, why.
  absl::Status Reserve(WorkerId worker);
  void Release(WorkerId worker);

  // Posts the call that `make` gives for the new request id. `result` is the memory that results are written into;
  // empty for requests without one.
  void Call(Buffer result, const std::function<WorkerCall(RequestId)>& make, Done done);
  void Detach(WorkerId worker, bool clean);

  // For the protocol thread, in the order of the actions.
  void Write(WriteResult write);
  void Complete(CompleteRequest complete);
  // Ends all waiting and later requests with `status`.
  void Close(absl::Status status);

 private:
  struct Request {
    Buffer result;
    int copies = 0;  // under way
    absl::Status copy_status;
    std::optional<CompleteRequest> complete;
    Done done;
  };

  void Copied(RequestId request);
  void Finish(std::unique_lock<std::mutex> lock, std::map<RequestId, Request>::iterator request);

  // Shared with computations that may finish late.
  const std::shared_ptr<EventQueue> queue_;
  ComputePool& pool_;
  std::mutex mutex_;
  RequestId next_ = RequestId(1);  // guarded by mutex_, as all below
  std::map<RequestId, Request> requests_;
  std::set<WorkerId> workers_;
  absl::Status closed_;  // not OK once closed
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKER_GATE_H_
