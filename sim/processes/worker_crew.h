// The workers of one node, through all starts of the node and of each worker. Passes what the node answers to the start
// of the worker that asked. Thread-compatible; owned by the job's processes.
#ifndef BANYAN_SIM_PROCESSES_WORKER_CREW_H_
#define BANYAN_SIM_PROCESSES_WORKER_CREW_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/ids.h"
#include "sim/agenda.h"
#include "sim/processes/simulated_process.h"
#include "sim/processes/simulated_worker.h"
#include "sim/processes/worker_listener.h"
#include "sim/processes/worker_port.h"
#include "sim/training/training_plan.h"

namespace banyan {

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
  void OnRoundComplete(const TellRoundComplete& told) override {
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

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_WORKER_CREW_H_
