// Hears what simulated workers do and get: how results are checked and times are taken. Called on the simulation's
// thread; outlives the workers.
#ifndef BANYAN_SIM_PROCESSES_WORKER_LISTENER_H_
#define BANYAN_SIM_PROCESSES_WORKER_LISTENER_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/time.h"
#include "sim/processes/simulated_state.h"
#include "sim/training/training_plan.h"

namespace banyan {

class WorkerListener {
 public:
  virtual ~WorkerListener() = default;

  // A start of the worker's process begins.
  virtual void OnStarted(Timestamp /*now*/, WorkerName /*worker*/) {}
  // It was killed, or its node ended.
  virtual void OnEnded(Timestamp /*now*/, WorkerName /*worker*/) {}
  virtual void OnPushed(Timestamp /*now*/, WorkerName /*worker*/, size_t /*tensor*/, Round /*round*/) {}
  virtual void OnResult(Timestamp /*now*/, WorkerName /*worker*/, size_t /*tensor*/, Round /*round*/,
                        absl::Span<const float> /*values*/) {}
  // A worker that shares its training state has this replica now.
  virtual void OnReplica(Timestamp /*now*/, WorkerName /*worker*/, const ReplicaMark& /*replica*/) {}
  // It asked for a state at `asked_at`, got none, and begins with its own values in the middle of the job.
  virtual void OnBeganAlone(Timestamp /*now*/, WorkerName /*worker*/, Timestamp /*asked_at*/) {}
  // A call ended with an error: the worker makes no more.
  virtual void OnFailed(Timestamp /*now*/, WorkerName /*worker*/, const std::string& /*call*/,
                        const absl::Status& /*status*/) {}
  // Called when what the node did with a call breaks the session's promises.
  virtual void OnMisuse(Timestamp /*now*/, WorkerName /*worker*/, const std::string& /*what*/) {}
};

}  // namespace banyan

#endif  // BANYAN_SIM_PROCESSES_WORKER_LISTENER_H_
