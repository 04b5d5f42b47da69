// Takes what the core of a simulated process does for its workers. Called on the simulation's thread while the core's
// actions are carried out; must not call back into the process.
#ifndef BANYAN_SIM_PROCESSES_WORKER_PORT_H_
#define BANYAN_SIM_PROCESSES_WORKER_PORT_H_

#include "protocol/action.h"

namespace banyan {

class WorkerPort {
 public:
  virtual ~WorkerPort() = default;

  virtual void OnWriteResult(const WriteResult& write) = 0;
  virtual void OnComplete(const CompleteRequest& completion) = 0;
  virtual void OnRoundComplete(const TellRoundComplete& told) = 0;
  // Something about the training state of a worker, or of all.
  virtual void OnAsked(const StateTask& task) = 0;
  // The process has ended: what waits gets no answer. Again for each later call.
  virtual void OnEnded() = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_WORKER_PORT_H_
