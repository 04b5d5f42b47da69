// The states that pass between a node and others: those of workers (StateExchange), and with a server-side optimizer
// its own (ReplicaExchange). Hands each event to the one that it concerns. Thread-compatible; owned by NodeCore.
#ifndef BANYAN_NODE_STATE_TRANSFERS_H_
#define BANYAN_NODE_STATE_TRANSFERS_H_

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "node/replicas/replica_exchange.h"
#include "node/state/state_exchange.h"
#include "node/state/state_mail.h"
#include "node/state/state_workers.h"
#include "node/step_context.h"
#include "proto/job_config.h"
#include "proto/state_messages.h"
#include "protocol/action.h"
#include "protocol/state_call.h"

namespace banyan {

class StateTransfers {
 public:
  // Gives up on whoever is silent for `config.lost_after`. The pointers outlive this.
  StateTransfers(const JobConfig& config, Replicas* replicas, StateWorkers* workers)
      : workers_({.stall_after = config.lost_after}, &mail_, workers),
        replicas_({.patience = config.lost_after}, replicas, &mail_),
        has_quorum_(config.aggregation.quorum > 0) {}

  // Takes what a worker says of its state. With a quorum no worker shares any: some may be rounds behind, and a state
  // that is fetched between two of their gradients would lack one.
  void OnCall(StepContext& step, StateCall& call) {
    const auto* share = std::get_if<WorkerShareState>(&call);
    if (share == nullptr || share->shape.parts.empty() || !has_quorum_) return workers_.OnCall(step, call);
    CompleteStateCall(step, share->request,
                      absl::FailedPreconditionError("no state can be shared in a job with aggregation.quorum: the "
                                                    "workers of one round may be in different ones; leave one out"));
  }

  bool HasMail() const { return !mail_.empty(); }
  // Returns what is to be sent since the last call.
  StateMail TakeMail() { return std::exchange(mail_, {}); }
  // Those of workers.
  StateExchange& workers() { return workers_; }

  void OnHolders(StepContext& step, const StateHolders& holders) {
    IsOfReplica(holders.transfer) ? replicas_.OnHolders(step, holders) : workers_.OnHolders(step, holders);
  }
  void OnSchedulerConnected(StepContext& step, Term term) {
    workers_.OnSchedulerConnected(step, term);
    replicas_.OnSchedulerConnected(step);
  }
  // Takes what another node says of a state.
  void OnPeerMessage(StepContext& step, const Message& message, const Payload& payload = {}) {
    if (IsOfReplica(TransferIn(message))) return replicas_.OnPeerMessage(step, message, payload);
    workers_.OnPeerMessage(step, message, payload);
  }
  void OnRoundComplete(StepContext& step) {
    replicas_.OnRoundComplete(step);
    workers_.OnRoundComplete(step);
  }
  void OnEpochBegin() {
    workers_.OnEpochBegin();
    replicas_.OnEpochBegin();
  }
  void OnEpochPlan(StepContext& step) {
    replicas_.OnEpochPlan(step);
    workers_.OnEpochPlan(step);
  }
  void OnDeadline(StepContext& step) {
    workers_.OnDeadline(step);
    replicas_.OnDeadline(step);
  }
  int64_t replica_bytes() const { return replicas_.image_bytes(); }
  Timestamp NextDeadline() const { return std::min(workers_.NextDeadline(), replicas_.NextDeadline()); }
  // Ends all calls, as the job has ended.
  void FailAll(StepContext& step, const absl::Status& status) {
    workers_.FailAll(step, status);
    replicas_.Clear();
  }

 private:
  static TransferId TransferIn(const Message& message) {
    return std::visit(
        [](const auto& concrete) {
          if constexpr (requires { concrete.transfer; }) return concrete.transfer;
          if constexpr (requires { concrete.frames; }) return TransferOf(concrete.id);
          return TransferId();
        },
        message);
  }

  StateMail mail_;
  StateExchange workers_;
  ReplicaExchange replicas_;
  const bool has_quorum_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_TRANSFERS_H_
