// What a node tells the scheduler of itself: a report once a heartbeat, and lost workers for as long as rounds wait for
// them. Thread-compatible; owned by NodeCore, whose parts outlive it.
#ifndef BANYAN_NODE_NODE_REPORTER_H_
#define BANYAN_NODE_NODE_REPORTER_H_

#include <optional>
#include <utility>

#include "core/ids.h"
#include "node/node_states.h"
#include "node/peers/peer_network.h"
#include "node/policy_book.h"
#include "node/rejection_log.h"
#include "node/rounds/round_engine.h"
#include "node/scheduler_client.h"
#include "node/step_context.h"
#include "node/workers/worker_desk.h"

namespace banyan {

class NodeReporter {
 public:
  struct Parts {
    NodeId self;
    const RejectionLog* rejections = nullptr;
    const PolicyBook* book = nullptr;
    SchedulerClient* scheduler = nullptr;
    const PeerNetwork* network = nullptr;
    const RoundEngine* engine = nullptr;
    const WorkerDesk* desk = nullptr;
    const NodeStates* states = nullptr;
  };

  explicit NodeReporter(Parts parts) : parts_(parts) {}

  // Sends a report if it says anything new.
  void Report(StepContext& step);
  // Whatever the next report says is new to the scheduler.
  void Forget() { last_.reset(); }
  void OnWorkerLost(StepContext& step, WorkerLost lost) {
    worker_lost_ = std::move(lost);
    ReportLostWorker(step);
  }
  // Tells the scheduler that no worker is here, or none that takes part in the open rounds, while that is so.
  void ReportLostWorker(StepContext& step) const;
  // The same, if open broadcasts wait for this node's values.
  void ReportMissingValues(StepContext& step) const;

 private:
  NodeReport MakeReport(StepContext& step) const;

  const Parts parts_;
  std::optional<WorkerLost> worker_lost_;  // the last one; others may have come since
  std::optional<NodeReport> last_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_NODE_REPORTER_H_
