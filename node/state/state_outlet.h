// What the parts that give and fetch training states need of their node. Implemented by NodeCore.
#ifndef BANYAN_NODE_STATE_STATE_OUTLET_H_
#define BANYAN_NODE_STATE_STATE_OUTLET_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/step_context.h"
#include "proto/chunk_message.h"
#include "proto/message.h"
#include "protocol/state_call.h"

namespace banyan {

// Returns the route from the last node of `route` to its first.
inline SourceRoute Reversed(SourceRoute route) {
  std::reverse(route.path.begin(), route.path.end());
  route.hop = 0;
  return route;
}

// The ways of what moves a state, be it that of workers or of nodes.
class StateChannel {
 public:
  virtual ~StateChannel() = default;

  // Sends to the scheduler while it is connected.
  virtual void TellScheduler(StepContext& step, Message message) = 0;
  // Sends a message with a route to the next node on it.
  virtual void SendOnRoute(StepContext& step, Message message) = 0;
  // Sends a chunk along its route, and again until it has arrived. Fills in what only the network knows: the policy and
  // this start of the node.
  virtual void SendStateChunk(StepContext& step, ChunkMessage message, Payload payload) = 0;
  virtual void Ask(StepContext& step, StateTask task) = 0;
};

class StateOutlet : public StateChannel {
 public:
  virtual void CompleteStateCall(StepContext& step, RequestId request, absl::Status status, uint64_t boundary) = 0;

  // Returns the last round of each key that this worker has pushed.
  virtual std::vector<KeysPushed> PushedBy(WorkerId worker) const = 0;
  // Says whether the worker has a training state: it has not come late, or has got one since.
  virtual bool HasState(WorkerId worker) const = 0;
  // Says whether this worker begins with the first round of every key, so that it has missed nothing.
  virtual bool HasMissedNothing(WorkerId worker) const = 0;
  // Returns the workers that begin with the first round of every key and have pushed none yet: they may still share a
  // state.
  virtual std::vector<WorkerId> Beginners() const { return {}; }
  // This worker fetches, and pushes nothing for now: the node abstains from each key if it has no others.
  virtual void Abstain(StepContext& step, WorkerId worker) = 0;
  // From the rounds after these on the node waits for the workers that fetch; it abstains from earlier ones. What it
  // has abstained from already stands until the next epoch.
  virtual void AbstainUntil(StepContext& step, const std::vector<KeysPushed>& pushed) = 0;
  // Ends that: nobody is to wait for the workers that fetch.
  virtual void AbstainFromAll(StepContext& step) = 0;
  // Says whether these rounds are complete at this node, so that no other result of them can be made.
  virtual bool HasResultsOf(const std::vector<KeysPushed>& pushed) const = 0;
  // This worker pushes the rounds after these.
  virtual void BeginAfter(StepContext& step, WorkerId worker, const std::vector<KeysPushed>& pushed) = 0;
  // This worker begins with what it has, from the first rounds that the node has not contributed to.
  virtual void BeginAnywhere(StepContext& step, WorkerId worker) = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_STATE_OUTLET_H_
