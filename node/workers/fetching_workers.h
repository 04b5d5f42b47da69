// Workers that fetch the training state of others before they take part in rounds: with which rounds they begin, and
// from which ones their node abstains meanwhile. Thread-compatible; owned by WorkerDesk.
#ifndef BANYAN_NODE_WORKERS_FETCHING_WORKERS_H_
#define BANYAN_NODE_WORKERS_FETCHING_WORKERS_H_

#include <vector>

#include "core/ids.h"
#include "node/rounds/round_engine.h"
#include "node/workers/local_keys.h"
#include "proto/state_messages.h"

namespace banyan {

class FetchingWorkers {
 public:
  // Both outlive this.
  FetchingWorkers(LocalKeys* keys, RoundEngine* engine) : keys_(keys), engine_(engine) {}

  // Returns the last round of each key that this worker has pushed, in runs.
  std::vector<KeysPushed> PushedBy(WorkerId worker) const;
  // True if this worker begins with the first round of every key.
  bool HasMissedNothing(WorkerId worker) const;

  // From the rounds after these on the node waits for the workers that fetch, where it has no others.
  void AbstainUntil(const std::vector<KeysPushed>& pushed);
  // The worker has the state after these rounds, and pushes the next ones.
  void BeginAfter(WorkerId worker, const std::vector<KeysPushed>& pushed);
  // The worker has no state, and pushes the next rounds that the node has not contributed to.
  void BeginAnywhere(WorkerId worker);

 private:
  // The keys that the worker has called Init for, in order of their ids, for as long as they stay.
  std::vector<LocalKey*> KeysOf(WorkerId worker) const;
  void BeginWith(LocalKey& local, WorkerId worker, Round first);

  LocalKeys* keys_;
  RoundEngine* engine_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_FETCHING_WORKERS_H_
