// Gives this node's replicas to nodes that have joined: says what they are made of, and sends what joiners ask for.
// Thread-compatible; owned by ReplicaExchange.
//
// Invariants:
// - Each message names the keys, and the rounds after which they are wanted. Nothing is kept from one to the next, but
//   hashes of replicas too large to be read in one step: at most kMostManifests are being made.
// - What is given is read when no optimizer's step is under way, at most about kBytesPerStep in one step.
#ifndef BANYAN_NODE_REPLICAS_REPLICA_SERVER_H_
#define BANYAN_NODE_REPLICAS_REPLICA_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/time.h"
#include "node/replicas/replica_set.h"
#include "node/rounds/replicas.h"
#include "node/state/state_outlet.h"
#include "node/step_context.h"
#include "proto/state_messages.h"

namespace banyan {

class ReplicaServer {
 public:
  // Of one request.
  static constexpr size_t kMostChunks = 8192;
  static constexpr size_t kMostManifests = 64;
  static constexpr int64_t kBytesPerStep = int64_t{64} << 20;

  // Both outlive this.
  ReplicaServer(const Replicas* replicas, StateChannel* outlet) : replicas_(replicas), outlet_(outlet) {}

  void OnManifestWanted(StepContext& step, const StateManifestWanted& wanted);
  void OnRequest(StepContext& step, const StateRequest& request);
  // Goes on with the hashes of large replicas.
  void OnDeadline(StepContext& step) {
    if (step.now >= NextDeadline()) MakeManifests(step);
  }
  Timestamp NextDeadline() const { return manifests_.empty() ? kNever : manifests_.front().since; }
  void Clear() { manifests_.clear(); }

 private:
  struct Manifest {
    Timestamp since;
    StateManifestWanted wanted;
    std::vector<uint64_t> hashes;  // so far
  };

  void MakeManifests(StepContext& step);
  void SendChunk(StepContext& step, const StateRequest& request, ChunkIndex chunk, Buffer bytes);

  const Replicas* replicas_;
  StateChannel* outlet_;
  std::deque<Manifest> manifests_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_REPLICAS_REPLICA_SERVER_H_
