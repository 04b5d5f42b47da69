// Connects a node's StateExchange with its other parts: the scheduler, the network, the workers. Thread-compatible;
// owned by NodeCore, whose parts outlive it.
#ifndef BANYAN_NODE_STATE_LINK_H_
#define BANYAN_NODE_STATE_LINK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "node/epoch_state.h"
#include "node/peers/peer_network.h"
#include "node/policy_book.h"
#include "node/scheduler_client.h"
#include "node/state/state_outlet.h"
#include "node/workers/worker_desk.h"

namespace banyan {

class StateLink : public StateOutlet {
 public:
  struct Parts {
    Incarnation incarnation;  // of this node
    const PolicyBook* book = nullptr;
    const EpochState* epochs = nullptr;
    SchedulerClient* scheduler = nullptr;
    PeerNetwork* network = nullptr;
    WorkerDesk* desk = nullptr;
  };

  explicit StateLink(Parts parts) : parts_(parts) {}

  void TellScheduler(StepContext& step, Message message) override;
  void SendOnRoute(StepContext& step, Message message) override;
  void SendStateChunk(StepContext& step, ChunkMessage message, Payload payload) override;
  void Ask(StepContext& step, StateTask task) override;
  void CompleteStateCall(StepContext& step, RequestId request, absl::Status status, uint64_t boundary) override;
  std::vector<KeysPushed> PushedBy(WorkerId worker) const override { return parts_.desk->fetching().PushedBy(worker); }
  bool HasState(WorkerId worker) const override { return parts_.desk->fetching().HasState(worker); }
  bool HasMissedNothing(WorkerId worker) const override { return parts_.desk->fetching().HasMissedNothing(worker); }
  std::vector<WorkerId> Beginners() const override { return parts_.desk->fetching().Beginners(); }
  void Abstain(StepContext& step, WorkerId worker) override { parts_.desk->Fetch(step, worker); }
  void AbstainUntil(StepContext& step, const std::vector<KeysPushed>& pushed) override {
    parts_.desk->AbstainUntil(step, pushed);
  }
  void AbstainFromAll(StepContext& step) override { parts_.desk->AbstainFromAll(step); }
  bool HasResultsOf(const std::vector<KeysPushed>& pushed) const override {
    return parts_.desk->fetching().HasResultsOf(pushed);
  }
  void BeginAfter(StepContext& step, WorkerId worker, const std::vector<KeysPushed>& pushed) override {
    parts_.desk->BeginAfter(step, worker, pushed);
  }
  void BeginAnywhere(StepContext& step, WorkerId worker) override { parts_.desk->BeginAnywhere(step, worker); }

 private:
  Parts parts_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_LINK_H_
