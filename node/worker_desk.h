// The node's side of its workers: who is attached, what each has pushed and waits for. Sums the workers of the data
// centre into this node's contribution, and answers every call exactly once, errors included. Thread-compatible; owned
// by NodeCore, which outlives it as its listener.
#ifndef BANYAN_NODE_WORKER_DESK_H_
#define BANYAN_NODE_WORKER_DESK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/time.h"
#include "core/worker_call.h"
#include "node/computation_table.h"
#include "node/policy_book.h"
#include "node/round_engine.h"
#include "node/scheduler_client.h"
#include "node/step_context.h"
#include "node/synchronisation_clock.h"

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

  // New rows are in the key table.
  void OnKeysAssigned(StepContext& step);
  void OnKeyRefused(StepContext& step, const std::string& name, const std::string& reason);
  void OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values);
  void OnRoundComplete(StepContext& step, KeyId key, Round round);
  void OnBarrierReleased(StepContext& step, uint64_t barrier);
  // Answers everything that waits, and from now on every call, with `status`; each answer names its key and round.
  void FailAll(StepContext& step, const absl::Status& status);

  const Progress& progress() const { return progress_; }
  const NodeReport::Synchronisation& last_synchronisation() const { return synchronisation_.last(); }
  uint32_t attached() const;
  // The memory that this node shares with its workers: for each tensor and worker a gradient slot per open round and
  // one to fill meanwhile, and a result slot per open round.
  int64_t worker_segment_bytes() const;
  // The last rounds that are complete here and that a worker has pushed, by key.
  std::vector<NodeReport::KeyProgress> KeyProgress() const;

 private:
  enum class WorkerState : uint8_t { kAbsent, kAttached, kDone };
  struct Worker {
    WorkerState state = WorkerState::kAbsent;
    uint64_t barriers = 0;
  };
  struct LocalRound {
    RoundKind kind = RoundKind::kAggregate;
    int32_t priority = 0;
    uint32_t pushed = 0;
    std::vector<Buffer> gradients;  // by worker, until they are summed
    std::vector<bool> has_pushed;   // by worker
    std::vector<RequestId> waiting;
    bool contributed = false;
    bool complete = false;
  };
  struct LocalKey {
    std::string name;
    int64_t elements = 0;
    KeyId key;  // 0 until the scheduler has assigned it
    uint32_t initialised = 0;
    bool init_contributed = false;
    std::vector<Buffer> init_values;  // by worker
    std::vector<RequestId> init_requests;
    std::vector<bool> has_init;    // by worker
    std::vector<Round> last_push;  // by worker
    Round last_complete;
    std::map<Round, LocalRound> rounds;
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

  // What needs a worker that said good-bye can never be.
  static absl::Status HasLeft(const std::string& what, uint32_t worker);

  // worker_desk_keys.cc
  absl::Status CheckInit(const WorkerInit& call) const;
  void ContributeInit(StepContext& step, LocalKey& local);
  // Takes one worker's part of its next round, and contributes when it was the last; the round, or why not.
  absl::StatusOr<Round> TakePart(WorkerId worker, KeyId key, RoundKind kind, Buffer values, int32_t priority);
  static absl::Status CheckShape(const LocalKey& local, WorkerId worker, const Buffer& values);
  absl::Status CheckPart(const LocalKey& local, WorkerId worker, Round round, RoundKind kind,
                         const Buffer& values) const;
  void ContributeRound(StepContext& step, LocalKey& local, Round round);
  void WaitFor(StepContext& step, RequestId request, LocalKey& local, Round round);
  // What others have begun and the worker has not, so that they would wait for ever; empty when there is nothing.
  std::string MissedBy(WorkerId gone) const;
  // What a call after the end of the job was about.
  struct Subject {
    std::string text;
    KeyId key;
    Round round;
  };
  template <typename Call>
  Subject SubjectOf(const Call& call);
  LocalKey* FindLocal(KeyId key);
  LocalKey* FindLocal(const std::string& name);
  bool IsAttached(WorkerId worker) const;
  // Rounds that every worker has left behind.
  void DropOldRounds(LocalKey& local);

  void Complete(StepContext& step, RequestId request, absl::Status status, KeyId key = KeyId(), Round round = Round());

  NodeId self_;
  const PolicyBook* book_;
  RoundEngine* engine_;
  SchedulerClient* scheduler_;
  ComputationTable* computations_;
  Listener* listener_;
  uint32_t rounds_in_flight_;
  std::vector<Worker> workers_;
  std::map<std::string, LocalKey> keys_;
  std::map<KeyId, LocalKey*> by_key_;
  std::map<uint64_t, std::vector<RequestId>> barriers_;
  Progress progress_;
  SynchronisationClock synchronisation_;
  absl::Status failed_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKER_DESK_H_
