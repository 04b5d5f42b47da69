// Gives this node's replicas to nodes that have joined: says what they are made of, and sends what joiners ask for.
// Thread-compatible; owned by ReplicaExchange.
//
// Invariants:
// - It keeps nothing from one message to the next: each names the keys, and the rounds after which they are wanted.
// - What is given is read in one step, when no optimizer's step is under way.
#ifndef BANYAN_NODE_REPLICAS_REPLICA_SERVER_H_
#define BANYAN_NODE_REPLICAS_REPLICA_SERVER_H_

#include <cstddef>

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

  // Both outlive this.
  ReplicaServer(const Replicas* replicas, StateChannel* outlet) : replicas_(replicas), outlet_(outlet) {}

  void OnManifestWanted(StepContext& step, const StateManifestWanted& wanted);
  void OnRequest(StepContext& step, const StateRequest& request);

 private:
  void SendChunk(StepContext& step, const StateRequest& request, ChunkIndex chunk, Buffer bytes);

  const Replicas* replicas_;
  StateChannel* outlet_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_REPLICAS_REPLICA_SERVER_H_
