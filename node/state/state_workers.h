// What those that give and fetch training states need of their node's workers. Implemented by LocalWorkers.
#ifndef BANYAN_NODE_STATE_STATE_WORKERS_H_
#define BANYAN_NODE_STATE_STATE_WORKERS_H_

#include <vector>

#include "core/ids.h"
#include "node/step_context.h"
#include "proto/state_messages.h"

namespace banyan {

class StateWorkers {
 public:
  virtual ~StateWorkers() = default;

  // Returns the last round of each key that this worker has pushed.
  virtual std::vector<KeysPushed> PushedBy(WorkerId worker) const = 0;
  // Says whether the worker has a training state: it has not come late, or has got one since.
  virtual bool HasState(WorkerId worker) const = 0;
  // Says whether this worker begins with the first round of every key, so that it has missed nothing.
  virtual bool HasMissedNothing(WorkerId worker) const = 0;
  // Returns the workers that begin with the first round of every key and have pushed none yet: they may still share a
  // state.
  virtual std::vector<WorkerId> Beginners() const { return {}; }
  // This worker fetches, and pushes nothing for now: no round or barrier waits for it until one of BeginAfter and
  // BeginAnywhere. The node abstains from keys in which no other one takes part.
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

#endif  // BANYAN_NODE_STATE_STATE_WORKERS_H_
