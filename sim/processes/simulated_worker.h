// A training process in simulated time: attaches to its node, makes the initial values known, then pushes gradients and
// pulls results, round after round. One that comes to a job that runs already learns from the end of its Inits which
// rounds are done, and trains on from there. Thread-compatible; owned by its node's crew.
#ifndef BANYAN_SIM_PROCESSES_SIMULATED_WORKER_H_
#define BANYAN_SIM_PROCESSES_SIMULATED_WORKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/random.h"
#include "protocol/action.h"
#include "sim/agenda.h"
#include "sim/processes/simulated_process.h"
#include "sim/processes/simulated_state.h"
#include "sim/processes/worker_listener.h"
#include "sim/training/training_plan.h"

namespace banyan {

class SimulatedWorker {
 public:
  // The pointers outlive this. `process` runs the node. `start` counts the starts of the training process, from 0.
  SimulatedWorker(WorkerName name, uint32_t start, const TrainingPlan* plan, uint64_t seed, SimulatedProcess* process,
                  Agenda* agenda, WorkerListener* listener);

  // Requests of a start of this worker have ids above this, by less than 1 << kStartShift.
  static constexpr int kWorkerShift = 32;
  static constexpr int kStartShift = 20;
  static uint64_t RequestPrefix(WorkerId worker, uint32_t start = 0) {
    return ((uint64_t{worker.value()} + 1) << kWorkerShift) + (uint64_t{start} << kStartShift);
  }

  const WorkerName& name() const { return name_; }
  void Start();
  // Its socket closes with whatever waits.
  void Die();
  void OnWriteResult(const WriteResult& write);
  void OnComplete(const CompleteRequest& completion);
  // The node says that a round is over whose result no call waits for.
  void OnRoundComplete(KeyId key, Round round);
  // The node asks something of its training state.
  void OnAsked(const StateTask& task);
  // Its socket to the node has closed.
  void OnNodeEnded();
  // It is replaced by another start, and does nothing more.
  void Abandon();

  // All rounds are done and the worker has said good-bye.
  bool finished() const { return finished_; }
  // The step after which it has got the training state of others; none while it has not.
  std::optional<uint64_t> fetched() const { return fetched_; }
  // Its model; the mark of nothing in a job without training states.
  const ReplicaMark& replica() const { return replica_; }
  Timestamp fetched_at() const { return fetched_at_; }
  bool dead() const { return dead_; }
  bool node_has_ended() const { return node_has_ended_; }
  // It can do no more, though it has not finished.
  bool lost() const { return dead_ || failure_.has_value() || node_has_ended_; }
  // The first call that failed; empty while none has.
  const std::optional<absl::Status>& failure() const { return failure_; }
  // The rounds that are done, of the tensor that is furthest behind.
  uint64_t rounds_done() const;
  // "node 3 worker 0: push-pull of b in round 7", one for each waiting call; empty when none waits.
  std::string WaitsFor() const;

 private:
  enum class Kind : uint8_t {
    kAttach,
    kInit,
    kPush,
    kPull,
    kBroadcast,
    kBarrier,
    kRegisterWeights,
    kShareState,
    kFetchState,
    kNeedNoState,
    kBoundary,
    kSynchronise,  // a Pull that tells with which round a worker begins
    kReportLoss
  };

  static bool IsOfATensor(Kind kind) {
    return kind != Kind::kAttach && kind != Kind::kBarrier && kind < Kind::kShareState;
  }

  struct Waiting {
    Kind kind = Kind::kAttach;
    size_t tensor = 0;
    Round round;
    std::vector<float> result;
    std::vector<bool> written;
  };

  struct TensorState {
    KeyId key;
    uint64_t pushed = 0;  // rounds, with those before this worker began
    uint64_t done = 0;
    std::set<Round> told;                  // as complete, without a call that waited
    std::map<uint64_t, uint64_t> results;  // digests of those that are not in the replica yet, by round
    bool computing = false;
  };

  RequestId Ask(Kind kind, size_t tensor, Round round, bool wants_result);
  void Call(WorkerCall call);
  void CallOfState(StateCall call);
  void FetchState();
  // Says that this worker begins with what it has, also where others have trained.
  void NeedNoState();
  void OnFetched(const CompleteRequest& completion);
  // Begins without the state of others, once it knows with which rounds.
  void Synchronise();
  void OnSynchronised(const Waiting& waiting, const CompleteRequest& completion);
  void BeginAlone();
  // Takes the results of the rounds that are done into the replica.
  void UpdateReplica();
  void EnterBarrier();
  void Initialise();
  void Compute();
  void ComputeTensor(size_t tensor);
  absl::Duration ComputeTime();
  void Push(size_t tensor);
  void RegisterWeights(size_t tensor);
  void OnTensorDone(size_t tensor);
  void OnRoundDone();
  void GoOn();
  void OnInitialised(size_t tensor, const CompleteRequest& completion);
  void CheckResult(const Waiting& waiting, const CompleteRequest& completion);
  void Finish();
  void Leave();
  bool AllDone(uint64_t rounds) const;

  const WorkerName name_;
  const uint32_t start_;
  const TrainingPlan* const plan_;
  Random random_;
  SimulatedProcess* const process_;
  Agenda* const agenda_;
  WorkerListener* const listener_;

  uint64_t next_request_ = 1;
  std::map<RequestId, Waiting> waiting_;
  std::vector<TensorState> tensors_;
  size_t initialised_ = 0;
  size_t synchronised_ = 0;
  std::optional<SimulatedState> state_;
  ReplicaMark replica_;
  absl::Duration fetch_timeout_;
  Timestamp asked_at_;
  std::optional<uint64_t> fetched_;
  Timestamp fetched_at_;
  bool dead_ = false;
  bool node_has_ended_ = false;
  bool finished_ = false;
  std::optional<absl::Status> failure_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_SIMULATED_WORKER_H_
