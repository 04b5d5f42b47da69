// The node's side of its workers: who is attached, what each has pushed and waits for. Sums the workers of the data
// centre into this node's contribution. Thread-compatible; owned by NodeCore, which outlives it as its listener.
//
// Invariants:
// - Every call is answered exactly once, with an error where it must be.
// - A worker learns of the end of each round that it pushed: from the answer of a call that asks for the result, or
//   else from one TellRoundComplete.
// - After FailAll nothing waits, and every further call ends with the same status.
#ifndef BANYAN_NODE_WORKERS_WORKER_DESK_H_
#define BANYAN_NODE_WORKERS_WORKER_DESK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/computation_table.h"
#include "node/policy_book.h"
#include "node/rounds/round_engine.h"
#include "node/scheduler_client.h"
#include "node/step_context.h"
#include "node/workers/local_keys.h"
#include "node/workers/synchronisation_clock.h"
#include "protocol/worker_call.h"

namespace banyan {

class WorkerDesk {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The node cannot contribute any more: a worker died, or has gone while others still need it.
    virtual void OnWorkerLost(StepContext& step, WorkerId worker, const std::string& reason) = 0;
    // Every worker has said good-bye.
    virtual void OnWorkersDone(StepContext& step) = 0;
  };
  struct Progress {
    uint64_t step = 0;
    double loss = 0;
  };

  WorkerDesk(NodeId self, const JobConfig& config, const PolicyBook* book, RoundEngine* engine,
             SchedulerClient* scheduler, ComputationTable* computations, Listener* listener);

  void OnCall(StepContext& step, WorkerCall call);

  // Takes up the rows of the keys of these `names`, which are new in the key table.
  void OnKeysAssigned(StepContext& step, const std::vector<std::string>& names);
  void OnKeyRefused(StepContext& step, const std::string& name, const std::string& reason);
  void OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values);
  void OnRoundComplete(StepContext& step, KeyId key, Round round);
  void OnBarrierReleased(StepContext& step, uint64_t barrier);
  // Tells the workers that the job has ended with `status`. Answers everything that waits, and from now on every call,
  // with it; each answer names its key and round.
  void FailAll(StepContext& step, const absl::Status& status);

  const Progress& progress() const { return progress_; }
  const NodeReport::Synchronisation& last_synchronisation() const { return synchronisation_.last(); }
  uint32_t attached() const;
  // Returns the memory that this node shares with its workers. Each tensor and worker has a gradient slot per open
  // round and one to fill meanwhile, and a result slot per open round.
  int64_t worker_segment_bytes() const;
  // Returns the last rounds that are complete here and that a worker has pushed, by key.
  std::vector<NodeReport::KeyProgress> KeyProgress() const { return keys_.Progress(); }

 private:
  enum class WorkerState : uint8_t { kAbsent, kAttached, kDone };
  struct Worker {
    WorkerState state = WorkerState::kAbsent;
    uint64_t barriers = 0;
  };
  void On(StepContext& step, WorkerAttach& call);
  void On(StepContext& step, WorkerDetach& call);
  void On(StepContext& step, WorkerInit& call);
  void On(StepContext& step, WorkerPush& call);
  void On(StepContext& step, WorkerPull& call);
  void On(StepContext& step, WorkerBroadcast& call);
  void On(StepContext& step, WorkerBarrier& call);
  void On(StepContext& step, WorkerReportLoss& call);
  void On(StepContext& step, WorkerRegisterWeights& call);

  void ContributeInit(StepContext& step, LocalKey& local);
  // True if a broadcast takes the values of this node.
  bool IsSource() const;
  // Takes one worker's part of its next round. Returns the round, or why not.
  absl::StatusOr<Round> TakePart(WorkerId worker, KeyId key, RoundKind kind, Buffer values, int32_t priority);
  absl::Status CheckPart(const LocalKey& local, WorkerId worker, Round round, RoundKind kind,
                         const Buffer& values) const;
  // UNAVAILABLE when a worker has said good-bye without its part of `what`, which therefore can never be.
  absl::Status CheckNobodyLeft(const std::string& what, absl::FunctionRef<bool(WorkerId)> took_part) const;
  // Contributes the round once every worker of this node has pushed it.
  void ContributeIfWhole(StepContext& step, LocalKey& local, Round round);
  void Contribute(StepContext& step, LocalKey& local, Round round);
  // Answers the worker's request with the round's result, now or when it is there.
  void WaitFor(StepContext& step, RequestId request, WorkerId worker, LocalKey& local, Round round);
  // Names what others have begun and the worker has not, so that they would wait for ever; empty when there is nothing.
  std::string MissedBy(WorkerId gone) const;
  // The subject of a call that comes after the end of the job, for its error.
  struct Subject {
    std::string text;
    KeyId key;
    Round round;
  };
  template <typename Call>
  Subject SubjectOf(const Call& call);
  bool IsAttached(WorkerId worker) const;
  void Complete(StepContext& step, RequestId request, absl::Status status, KeyId key = KeyId(), Round round = Round());

  NodeId self_;
  const PolicyBook* book_;
  RoundEngine* engine_;
  SchedulerClient* scheduler_;
  ComputationTable* computations_;
  Listener* listener_;
  uint32_t rounds_in_flight_;
  std::vector<Worker> workers_;
  LocalKeys keys_;
  std::map<uint64_t, std::vector<RequestId>> barriers_;
  Progress progress_;
  SynchronisationClock synchronisation_;
  absl::Status failed_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_WORKER_DESK_H_
