// The node's side of one worker, whatever carries the messages: checks what the worker asks, owns its tensors' memory
// and turns its calls into requests of the core. WorkerRequests has the calls; a slot of a tensor is in use as long as
// a Buffer on it lives.
//
// Thread-safe. Shared by the carrier and by Buffers on slots that the core still uses. Requests that run when the
// carrier closes are forgotten, and the memory goes when the last Buffer of the core has.
#ifndef BANYAN_RUNTIME_WORKERS_WORKER_CONNECTION_H_
#define BANYAN_RUNTIME_WORKERS_WORKER_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "proto/session_messages.h"
#include "runtime/workers/segment_budget.h"
#include "runtime/workers/tensor_segment.h"
#include "runtime/workers/worker_requests.h"
#include "runtime/workers/worker_state.h"

namespace banyan {

// Collects the tensors of the group that a worker is about to open. Thread-compatible; owned by WorkerConnection.
//
// Invariants:
// - It never holds more than TensorLayout allows.
class GroupDescription {
 public:
  // Adds tensors. RESOURCE_EXHAUSTED when they become too many; then there are none.
  absl::Status Add(const DescribeGroup& described);
  // Returns what has been described, and begins anew. INVALID_ARGUMENT when a group has other than `elements` elements.
  absl::StatusOr<TensorLayout> Take(int64_t elements);

 private:
  TensorLayout layout_;
  size_t name_bytes_ = 0;
};

class WorkerConnection : public std::enable_shared_from_this<WorkerConnection> {
 public:
  // Brings a reply to the worker, TensorOpened with the memory itself. Called on any thread, without locks held; must
  // not block.
  using Reply = std::function<void(WorkerReply, std::shared_ptr<TensorSegment>)>;

  WorkerConnection(std::shared_ptr<WorkerRequests> requests_of_workers, std::shared_ptr<SegmentBudget> budget,
                   std::string node_name, Reply reply);

  // Says who the worker is, for those who want to attach the same one. Before the first Receive.
  void SetProcess(std::string name) { process_ = std::move(name); }
  // Takes a message of the worker. An error says that it makes no sense; the worker has not been told.
  absl::Status Receive(const WorkerMessage& message);
  // The worker, while it is attached.
  std::optional<WorkerId> AttachedWorker() const;
  // Whether a worker waits to be attached.
  bool IsAttaching() const;
  // Ends the connection, as the carrier is gone: a dead worker, unless it said good-bye with nothing waiting. A worker
  // that is being attached is detached when the core has answered.
  void Close();

 private:
  struct Tensor {
    std::shared_ptr<TensorSegment> segment;  // shared with Buffers on its slots
    std::string name;
    TensorLayout layout;                // until its Init
    KeyId key;                          // once `known`
    bool known = false;                 // Init is done
    std::vector<bool> gradient_in_use;  // while a Buffer on it lives
    std::vector<bool> result_in_use;    // likewise
  };

  absl::Status On(const AttachWorker& attach);
  absl::Status On(const DescribeGroup& described);
  absl::Status On(const OpenTensor& open);
  absl::Status On(const TensorCall& call);
  absl::Status On(const BarrierCall& call);
  absl::Status On(const ReportLossCall& call);
  absl::Status On(const DescribeWait& question);
  absl::Status On(const WorkerGoodBye&);
  absl::Status On(const DescribeState& described) { return state_.Describe(described); }
  absl::Status On(const ShareStateCall& call);
  absl::Status On(const BoundaryCall& call);
  absl::Status On(const LeaveBoundary&);
  absl::Status On(const FetchStateCall& call);
  absl::Status On(const StateFilled& filled);
  absl::Status On(const StateTaken& taken);

  absl::Status CheckCall(const TensorCall& call) const;
  Buffer TakeGradient(const TensorCall& call);
  Buffer TakeResult(const TensorCall& call);
  using Make = std::function<Event(RequestId, WorkerId)>;
  using Done = std::function<void(WorkerConnection&, const CompleteRequest&)>;
  // Starts a call with what `make` gives for it. Answers it with its end, or does `done`.
  absl::Status Start(CallId call, const Make& make, Buffer result = Buffer(), Done done = nullptr);
  WorkerRequests::Notices MakeNotices();
  void Attached(const AttachWorker& attach, const CompleteRequest& complete);
  void InitDone(TensorId tensor, const CompleteRequest& complete);
  void AnswerCall(CallId call, const CompleteRequest& complete);
  // Notes that no Buffer is on the slot any more. Returns false when the tensor is gone.
  bool Release(TensorId tensor, std::vector<bool> Tensor::*in_use, uint32_t slot);
  void RoundComplete(KeyId key, Round round);
  void SendMembers(const NotifyMembers& told);
  void Answer(WorkerReply reply, std::shared_ptr<TensorSegment> segment = nullptr);

  const std::shared_ptr<WorkerRequests> requests_of_workers_;  // shared with all connections and the host
  const std::shared_ptr<SegmentBudget> budget_;                // likewise
  const std::string node_name_;
  const Reply reply_;
  std::string process_;  // empty: unknown
  WorkerState state_;

  mutable std::mutex mutex_;  // guards all below; never held while calling the requests or reply_
  std::optional<WorkerId> attaching_;
  std::optional<WorkerId> worker_;  // attached
  bool said_good_bye_ = false;
  bool closed_ = false;
  uint32_t rounds_in_flight_ = 1;
  GroupDescription group_;
  TensorId next_tensor_ = TensorId(1);
  std::map<TensorId, Tensor> tensors_;
  std::map<KeyId, TensorId> by_key_;  // whose Init is done
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_WORKER_CONNECTION_H_
