// A simulated process, its storage, and who takes what its core does for workers.
#ifndef BANYAN_SIM_PROCESSES_SIMULATED_PROCESS_H_
#define BANYAN_SIM_PROCESSES_SIMULATED_PROCESS_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/random.h"
#include "protocol/action.h"
#include "protocol/protocol.h"
#include "protocol/record_store.h"
#include "sim/agenda.h"
#include "sim/network/simulated_network.h"
#include "sim/processes/step_costs.h"
#include "sim/trace.h"
#include "sim/violations.h"

namespace banyan {

// Memory as the storage of a core's records, for simulated processes: what it points to outlives them.
// Thread-compatible.
class MemoryRecordStore : public RecordStore {
 public:
  // `memory` must outlive this.
  explicit MemoryRecordStore(StoredRecords* memory) : memory_(memory) {}

  absl::StatusOr<StoredRecords> Open() override { return *memory_; }
  absl::Status Append(const std::vector<std::string>& records) override {
    memory_->tail.insert(memory_->tail.end(), records.begin(), records.end());
    return absl::OkStatus();
  }
  absl::Status Replace(const std::string& snapshot) override {
    *memory_ = StoredRecords{snapshot, {}, ""};
    return absl::OkStatus();
  }

 private:
  StoredRecords* memory_;
};

// Takes what the core of a simulated process does for its workers. Called on the simulation's thread while the core's
// actions are carried out; must not call back into the process.
class WorkerPort {
 public:
  virtual ~WorkerPort() = default;

  virtual void OnWriteResult(const WriteResult& write) = 0;
  virtual void OnComplete(const CompleteRequest& completion) = 0;
  virtual void OnRoundComplete(const NotifyRoundComplete& told) = 0;
  // Something about the training state of a worker, or of all.
  virtual void OnAsked(const StateTask& task) = 0;
  // The process has ended: what waits gets no answer. Again for each later call.
  virtual void OnEnded() = 0;
};

struct ProcessOptions {
  // The time on this process's monotonic clock when the simulation starts; clocks of different processes have nothing
  // in common.
  Timestamp clock_start;
  // The clock runs faster than simulated time by this, in parts per million.
  double clock_drift_ppm = 0;
  uint32_t compute_threads = 2;
  double memory_bytes_per_second = 5e9;
  double vote_slowness = 1;  // so many times longer for what casts and counts votes
  absl::Duration computation_overhead = absl::Microseconds(5);
  // Bytes of computations count this often.
  int64_t scale = 1;
  absl::Duration persist_time = absl::Milliseconds(2);
  // What steps cost. Empty: they take no time.
  std::optional<StepCosts> step_costs;
};

// The context that all processes of a simulation share.
struct ProcessContext {
  Agenda* agenda;
  SimulatedNetwork* network;
  Trace* trace;
  Violations* violations;
};

// The driver of one core in simulated time: its clock, its timer, a pool of computing threads, stable storage, pauses,
// its end. Thread-compatible; owned by the simulator, and owns the core.
class SimulatedProcess {
 public:
  // Makes a process that does not run yet; the core gets its Started from Start(). What `context` points to outlives
  // this.
  SimulatedProcess(NodeId id, const ProcessOptions& options, uint64_t seed, std::unique_ptr<Protocol> core,
                   const ProcessContext& context);

  NodeId id() const { return id_; }
  bool running() const { return running_; }
  // Returns what the core's Stop said; empty while it runs, and when it was killed.
  const std::optional<absl::Status>& stopped() const { return stopped_; }
  Timestamp LocalNow() const;

  // Must outlive this; nullptr for none.
  void set_worker_port(WorkerPort* port) { worker_port_ = port; }
  // Called with what the core says when it stops, after its end.
  void set_on_stopped(std::function<void(const absl::Status&)> on_stopped) { on_stopped_ = std::move(on_stopped); }

  void Start();
  // Now, or when the pause ends.
  void Deliver(Event event);
  // After the time that a call from a worker takes.
  void CallLater(absl::Duration delay, WorkerCall call);
  void CallLater(absl::Duration delay, StateCall call);
  void RequestStop();

  // Asked before each step: the core stops when it may act no more. Empty: it always may.
  void set_may_act(std::function<bool()> may_act) { may_act_ = std::move(may_act); }
  // The core ends by itself, or by what its driver cannot do. REQUIRES: it runs.
  void StopWith(absl::Status status);

  // Nothing is handled until then; what comes meanwhile waits in its order.
  void PauseUntil(Timestamp until);
  Timestamp paused_until() const { return paused_until_; }
  // The end without a word. `silently` as in SimulatedNetwork::EndProcess. Of the records that are on their way to
  // stable storage, some of the oldest come to it.
  void Kill(bool silently);
  // A new start with a new core, after the end of the one before.
  void Restart(std::unique_ptr<Protocol> core);

  // Keeps records there instead of in the process's own stable storage. A call that returns UNAVAILABLE is tried again;
  // any other error ends the process. Outlives this.
  void set_record_store(RecordStore* store) { record_store_ = store; }
  // Returns what is on its own stable storage; it outlives kills and restarts.
  const StoredRecords& stored() const { return storage_; }
  // Loses what is on stable storage. REQUIRES: the process does not run.
  void ForgetStored();
  // Nothing comes to stable storage until then.
  void StallStorageUntil(Timestamp until) { storage_stalled_until_ = std::max(storage_stalled_until_, until); }
  // From now on each record takes this long.
  void SlowStorage(absl::Duration persist_time) { persist_time_ = persist_time; }
  // The next record cannot be stored, which ends the process with this error; until MendStorage.
  void FailStorage(absl::Status status) { storage_error_ = std::move(status); }
  void MendStorage() { storage_error_.reset(); }

  // Handle what the agenda holds for this process.
  void Handle(CoreEvent event);
  void Handle(ComputationDue due);
  void Handle(const TimerDue& due);
  void Handle(const PauseEnded& ended);

 private:
  void Step(Event event);
  // Handles the first event that waits, and goes on to the next.
  void StepHeld();
  // Begins to work on the first event that waits, when steps cost time.
  void BeginStep();
  // A worker that calls a process that has ended hears of it.
  void RefuseCall(const Event& event);
  void CarryOut(Action action);
  void Compute(StartComputation start);
  void Persist(PersistRecord record);
  // Brings the oldest record that is on its way to stable storage.
  absl::Status StoreRecord();
  // Does so when it is this record's turn; false when it must be tried again, or cannot be stored.
  bool Store(const RecordPersisted& record);
  void End();
  void SetTimer();
  Timestamp LocalTime(int64_t global_ns) const;
  // The first time at which the process's clock shows `local`.
  Timestamp GlobalTime(Timestamp local) const;
  void CheckProgress(const Event& event);

  const NodeId id_;
  const ProcessOptions options_;
  Random random_;
  std::unique_ptr<Protocol> core_;
  const ProcessContext context_;
  WorkerPort* worker_port_ = nullptr;

  bool running_ = false;
  uint32_t life_ = 0;
  std::optional<absl::Status> stopped_;
  std::function<void(const absl::Status&)> on_stopped_;
  std::function<bool()> may_act_;
  Timestamp timer_at_ = kNever;  // the earliest one on the agenda
  Timestamp paused_until_;
  std::deque<Event> held_;
  Timestamp busy_until_;                 // with the first of those held, when steps cost time
  bool deadline_is_held_ = false;        // among those held
  std::vector<int64_t> thread_free_ns_;  // by computing thread
  std::deque<PersistRecord> pending_records_;
  StoredRecords storage_;
  MemoryRecordStore own_store_{&storage_};
  RecordStore* record_store_ = &own_store_;
  absl::Duration persist_time_;
  Timestamp storage_stalled_until_;
  Timestamp last_stored_;  // the last record on its way will be, then
  std::optional<absl::Status> storage_error_;
  Timestamp last_deadline_;
  int64_t idle_deadlines_ = 0;  // in a row, without time passing
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_SIMULATED_PROCESS_H_
