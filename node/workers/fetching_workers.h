// Workers that fetch the training state of others before they take part in rounds: with which rounds they begin, and
// from which ones their node abstains meanwhile. Thread-compatible; owned by LocalWorkers.
//
// A worker that has come late fetches from its Init on, whether it has asked for the state or not. A worker that
// fetches is in one of two states:
//   no limit   Nobody has said with which rounds it begins. The node abstains from every key in which no other worker
//              of it takes part, or contributes what the others push. Nobody waits for the worker.
//   a limit    A transfer has named the rounds with which it begins. From these on the node neither abstains nor
//              contributes, so that all members wait for the worker.
// Whoever sets the limit ends it: with the fetch, or with the transfer (AbstainFromAll).
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
  // True unless the worker has come late to a key, and has not got the training state.
  bool HasState(WorkerId worker) const;
  // True if this worker begins with the first round of every key.
  bool HasMissedNothing(WorkerId worker) const;
  // Returns the workers that begin with the first round of every key, and have pushed none yet.
  std::vector<WorkerId> Beginners() const;
  // True if these rounds are complete here, of the keys in which workers of this node take part.
  bool HasResultsOf(const std::vector<KeysPushed>& pushed) const;

  // Notes that the worker fetches. What the others have pushed may be whole now.
  void Begin(WorkerId worker);
  // From the rounds after these on the node waits for the workers that fetch. What it has put into these rounds, or
  // abstained from, is taken back: it stands until the next epoch.
  void AbstainUntil(const std::vector<KeysPushed>& pushed);
  // Nobody knows any more with which rounds they begin. What the others have pushed may be whole now.
  void AbstainFromAll();
  // The worker has the state after these rounds, and pushes the next ones.
  void BeginAfter(WorkerId worker, const std::vector<KeysPushed>& pushed);
  // The worker has no state, and pushes the next rounds that the node has not contributed to. REQUIRES: there is no
  // limit, and what was taken back for one is restored.
  void BeginAnywhere(WorkerId worker);

  // The keys that the worker has called Init for, in order of their ids, for as long as they stay.
  std::vector<LocalKey*> KeysOf(WorkerId worker) const;

 private:
  void BeginWith(LocalKey& local, WorkerId worker, Round first);
  // Applies the limit, or none, to a key.
  void Apply(LocalKey& local);
  void TakeBack(LocalKey& local);

  LocalKeys* keys_;
  RoundEngine* engine_;
  std::vector<KeysPushed> pushed_;  // before the limit; empty: there is none
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_FETCHING_WORKERS_H_
