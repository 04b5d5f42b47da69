// The processes of a simulated job, and the workers of each node.
#ifndef BANYAN_SIM_JOB_PROCESSES_H_
#define BANYAN_SIM_JOB_PROCESSES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/random.h"
#include "protocol/protocol.h"
#include "scheduler/state/state_record.h"
#include "sim/agenda.h"
#include "sim/cluster_options.h"
#include "sim/leadership/standby_schedulers.h"
#include "sim/processes/simulated_operator.h"
#include "sim/processes/simulated_process.h"
#include "sim/processes/simulated_worker.h"
#include "sim/processes/worker_listener.h"
#include "sim/simulator.h"
#include "sim/training/training_plan.h"

namespace banyan {

// The workers of one node, through all starts of the node and of each worker. Passes what the node answers to the start
// of the worker that asked. Thread-compatible; owned by the job's processes.
class WorkerCrew : public WorkerPort {
 public:
  // The pointers outlive this. `process` runs the node.
  WorkerCrew(NodeId node, const TrainingPlan* plan, SimulatedProcess* process, Agenda* agenda,
             WorkerListener* listener);

  // Makes the next worker, in rising order of WorkerId; it does not run yet.
  void Add(uint64_t seed);
  // Starts what was added and has not started.
  void StartAll();
  // Starts a worker anew. It attaches once its node runs. REQUIRES: it is lost.
  void Restart(WorkerId worker, uint64_t seed);
  // Ends a worker; its node sees its socket close.
  void Kill(WorkerId worker);

  size_t size() const { return starts_.size(); }
  // Every worker has finished.
  bool IsDone() const;
  // Some worker has finished while no other one ran: its node waited for nobody, and may have left.
  bool HasEnded() const;
  // The newest start of it. REQUIRES: worker < size().
  SimulatedWorker* current(WorkerId worker) const { return starts_[worker.value()].back().get(); }

  void OnWriteResult(const WriteResult& write) override { WhoAsked(write.request)->OnWriteResult(write); }
  void OnComplete(const CompleteRequest& completion) override { WhoAsked(completion.request)->OnComplete(completion); }
  void OnRoundComplete(const NotifyRoundComplete& told) override {
    current(told.worker)->OnRoundComplete(told.key, told.round);
  }
  void OnAsked(const StateTask& task) override;
  void OnEnded() override;

 private:
  std::unique_ptr<SimulatedWorker> Make(WorkerId worker, uint64_t seed) const;
  SimulatedWorker* WhoAsked(RequestId request) const;

  const NodeId node_;
  const TrainingPlan* const plan_;
  SimulatedProcess* const process_;
  Agenda* const agenda_;
  WorkerListener* const listener_;
  // By WorkerId. Earlier starts stay: the agenda may hold what they meant to do.
  std::vector<std::vector<std::unique_ptr<SimulatedWorker>>> starts_;
  std::vector<bool> is_started_;  // the newest start, by WorkerId
  bool was_over_ = false;         // before a dead worker came back
};

// The processes of a simulated job: the scheduler, the nodes with their workers, an operator. Makes a core for each
// start of each of them, and ends and starts them as faults want it. Thread-compatible; owned by the cluster.
class JobProcesses : private SimulatedOperator::Listener {
 public:
  // `scaled` is the overlay that the cores see. All of these outlive this.
  JobProcesses(const ClusterOptions* options, const OverlayConfig* scaled, Simulator* simulator,
               WorkerListener* listener);

  // The newest start of each worker.
  const std::map<WorkerName, SimulatedWorker*>& workers() const { return workers_; }
  // nullptr without orders.
  const SimulatedOperator* job_operator() const { return operator_; }

  // Ends a node at once, and with it the connections of its workers. `silently`: its host is gone too.
  void KillNode(NodeId node, bool silently);
  // Starts a node that does not run, with another incarnation, and those of its workers that have not finished. Does
  // nothing when the job is being stopped, or the node has left for good.
  void StartNode(NodeId node);
  // The job is being stopped: no node starts any more.
  void End() { is_ending_ = true; }
  // Asks a node, or the scheduler, to stop; it ends by itself.
  void Stop(NodeId process);
  // Asks a node to stop and not to come back, whoever lets it in again.
  void StopForGood(NodeId node);
  // Those that were asked so.
  const std::set<NodeId>& gone() const { return gone_; }
  void KillWorker(WorkerName worker);
  // Starts a worker that is lost. It attaches when its node runs.
  void StartWorker(WorkerName worker);

  // The processes of schedulers.
  std::set<NodeId> schedulers() const;
  // The scheduler that leads, or that did so last.
  NodeId leader() const;
  bool IsSchedulerRunning() const { return IsRunning(leader()); }
  // nullptr when there is one scheduler.
  StandbySchedulers* standby() { return standby_.get(); }

  // Ends the one that leads.
  void KillScheduler(bool silently);
  // Starts the scheduler, which does not run, or lets those stand by that do not. Without records its storage is empty.
  // With those of a job that is over nothing happens, since another job would begin.
  void StartScheduler(bool with_records);
  // Starts a scheduler that does not run with its records and this overlay, which is of another job: it has to refuse.
  // Then starts it with its own. Where no job runs yet, or where two share it, at once with its own.
  void StartSchedulerWithOtherFile(const OverlayConfig& file);
  // Called when the records are lost.
  void set_on_records_lost(std::function<void()> on_records_lost) { on_records_lost_ = std::move(on_records_lost); }

  // From now on the scheduler that leads cannot make a record durable, which ends it.
  void FailStorage();
  void MendStorage();
  // From now on a scheduler takes this long for each record, if it leads now; or all of them.
  void SlowStorage(absl::Duration persist_time) { simulator_->process(leader())->SlowStorage(persist_time); }
  void MendSlowStorage();

  bool IsRunning(NodeId process) const;
  // The job was over before the node came back: its workers have nothing left to do.
  bool CameTooLate(NodeId node) const { return is_over_ || came_too_late_.contains(node); }
  // Since its last start.
  bool IsAskedToStop(NodeId process) const { return asked_to_stop_.contains(process); }

  // Returns whether a call or a node ended since all nodes were gone that had the parameters.
  bool IsOfLostParameters(const absl::Status& status) const;
  // Returns whether a node ended so.
  bool has_lost_parameters() const { return has_lost_parameters_; }
  // The operator has ordered the end of the job, and may have been heard.
  bool is_stop_ordered() const { return is_stop_ordered_; }
  // Returns whether a call ended because the job is over by that order.
  bool IsOfStop(const absl::Status& status) const;
  // Complains if an order to end the job was accepted of which the records know nothing.
  void CheckStop();

 private:
  void AddScheduler();
  void AddStandby();
  void AddNode(NodeId id);
  void AddOperator();
  ProcessOptions OptionsOfProcess();
  Timestamp RandomStart();
  std::unique_ptr<Protocol> MakeScheduler(const OverlayConfig& file, StartId start, StoredRecords records) const;
  std::unique_ptr<Protocol> MakeNode(NodeId id, Incarnation incarnation) const;
  std::unique_ptr<Protocol> Wrap(NodeId id, std::unique_ptr<Protocol> core) const;
  // What the node command does when the core says that this start of the node is no member any more.
  void OnNodeStopped(NodeId node, const absl::Status& status);
  void OnSchedulerStopped(const absl::Status& status);
  // True, and the job is over, when the records say so.
  bool EndIfOver(const StoredRecords& records);
  // How the job has ended by these records; empty while it has not.
  std::optional<EndRecord> EndOf(const StoredRecords& records) const;
  // Whether the workers of some node have finished, but for dead ones, without which no job is over.
  bool HasFinisher() const;
  void OnOrdered(const OperatorOrder& order) override;
  void OnAnswered(const OperatorOrder& order, const OperatorReply& reply) override;
  // Complains if a scheduler still runs with the file of another job.
  void CheckRefusal();
  // A job that outlives its members has no reason to give up.
  void ReportEnd(const std::string& who, const absl::Status& status);

  bool has_lost_parameters_ = false;
  const ClusterOptions& options_;
  const OverlayConfig& scaled_;
  Simulator* const simulator_;
  WorkerListener* const listener_;
  Random random_;  // for starts after the first
  uint64_t scheduler_starts_ = 1;
  std::unique_ptr<StandbySchedulers> standby_;
  std::map<NodeId, WorkerCrew> crews_;
  std::map<WorkerName, SimulatedWorker*> workers_;
  std::set<NodeId> asked_to_stop_;
  std::set<NodeId> gone_;
  std::set<NodeId> came_too_late_;
  bool is_over_ = false;
  bool storage_fails_ = false;
  bool has_other_file_ = false;  // the scheduler runs with the file of another job
  std::set<NodeId> removed_;     // by the operator, or so it has ordered; not let in again
  std::set<NodeId> ever_removed_;
  bool is_ending_ = false;
  bool is_stop_ordered_ = false;
  bool is_stop_accepted_ = false;
  std::function<void()> on_records_lost_;
  SimulatedOperator* operator_ = nullptr;  // owned by its process
};

}  // namespace banyan

#endif  // BANYAN_SIM_JOB_PROCESSES_H_
