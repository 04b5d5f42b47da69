// The rounds of every key at one node: which are open, under which policy, and what comes early or late. Each bound
// round has a ReduceHalf (the way up, one for each attempt) and a BroadcastHalf (the way down); this joins them with
// the neighbours. Thread-compatible; owned by NodeCore, which outlives it as its listener.
//
// Invariants:
// - A round is *open* here once its policy is known, this node's contribution is there, and earlier rounds leave room
//   (rounds_in_flight).
// - Children may be ahead: their chunks are summed once the policy is known, and kept within a bound before.
// - A chunk that is refused would be sent again for ever: a round that refuses the same twice is broken, and so is one
//   whose chunk turns out to be wrong after it was acknowledged.
// - What outlives an attempt (contribution, results) is in RoundState, what outlives a round in TensorMemory, and what
//   belongs to an attempt in its ReduceHalf, alone.
#ifndef BANYAN_NODE_ROUNDS_ROUND_ENGINE_H_
#define BANYAN_NODE_ROUNDS_ROUND_ENGINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/ids.h"
#include "node/computation_table.h"
#include "node/early_store.h"
#include "node/peers/peer_network.h"
#include "node/policy_book.h"
#include "node/rounds/broadcast_half.h"
#include "node/rounds/encoding_chooser.h"
#include "node/rounds/key_rounds.h"
#include "node/rounds/reduce_half.h"
#include "node/rounds/tensor_memory.h"
#include "node/step_context.h"
#include "proto/job_config.h"

namespace banyan {

class RoundEngine : private ReduceHalf::Owner, private BroadcastHalf::Owner {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // A part of the values that workers get is there.
    virtual void OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) = 0;
    // All parts were given; `hash` is over the whole result and the same on every member.
    virtual void OnRoundComplete(StepContext& step, KeyId key, Round round, uint64_t hash) = 0;
    // The round's policy is needed, and may have been asked for before; AddBinding and OnBookChanged follow.
    virtual void OnPolicyWanted(StepContext& step, KeyId key, Round round) = 0;
    // The round can never finish, for this `reason`. `culprit` is the other member whose part breaks a rule; 0 when it
    // is no single node's doing.
    virtual void OnRoundBroken(StepContext& step, KeyId key, Round round, NodeId culprit,
                               const std::string& reason) = 0;
  };

  RoundEngine(NodeId self, Incarnation incarnation, const JobConfig& config, PolicyBook* book, PeerNetwork* network,
              ComputationTable* computations, Listener* listener);
  RoundEngine(const RoundEngine&) = delete;
  RoundEngine& operator=(const RoundEngine&) = delete;

  // REQUIRES: the key is in the book and its round has no contribution yet.
  void Contribute(StepContext& step, KeyId key, Round round, Contribution contribution);
  PeerNetwork::Verdict OnChunk(StepContext& step, ChunkMessage message, Payload payload);
  // Rows or bindings of these `keys`, which are in the book, are new: opens what waited for them and takes their early
  // chunks up. Looks at no other key: a model may have many.
  void OnBookChanged(StepContext& step, const std::vector<KeyId>& keys);
  void OnClosedEverywhere(StepContext& step, KeyId key, Round round);
  // Takes the key's weights as they are now, by which gradients are pruned from here on; forgets them where nothing is
  // pruned, or where the node has them itself. REQUIRES: the key is in the book, with as many elements.
  void RegisterWeights(StepContext& step, KeyId key, Buffer weights);
  // Gives every part of the result that is there to `sink`: all of it from its completion until the next round opens.
  void Replay(KeyId key, Round round, const BroadcastHalf::Sink& sink) const;
  // A round is over on these links: the ratios of the next follow.
  void ObserveLinks(const std::vector<LinkRatios::Observation>& links) { encodings_.Observe(links); }
  // Forgets every round: the job has failed.
  void Clear();
  // True if every round that this node took part in is closed everywhere.
  bool IsIdle() const;

  std::vector<NodeReport::Memory> MemoryReport() const;

 private:
  struct KeyState {
    TensorMemory memory;
    KeyRounds rounds;
  };

  // ReduceHalf::Owner, BroadcastHalf::Owner.
  ReduceHalf* FindReduceHalf(StepContext& step, const AttemptId& id) override;
  void OnSum(StepContext& step, const AttemptId& id, ChunkIndex chunk, NodeId parent, const CheckedChunk& sum,
             double result_ratio) override;
  void OnResultMade(StepContext& step, const AttemptId& id, ChunkIndex chunk, CheckedChunk result) override;
  void OnSumBroken(StepContext& step, const AttemptId& id, NodeId culprit, const std::string& reason) override;
  BroadcastHalf* FindBroadcastHalf(StepContext& step, KeyId key, Round round) override;
  void OnResultFor(StepContext& step, KeyId key, Round round, ChunkIndex chunk, NodeId child,
                   const CheckedChunk& result) override;
  void OnRead(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) override;
  void OnAllRead(StepContext& step, KeyId key, Round round, uint64_t hash) override;

  // REQUIRES: the key is in the book.
  KeyState& KeyOf(KeyId key);
  RoundState* FindRound(KeyId key, Round round);
  // Gives the early store room for the model, with the bytes that it has grown by.
  void GrowEarlyStore(int64_t grown_bytes);
  // Binds the round when its policy is known; null otherwise.
  RoundState* Bound(StepContext& step, KeyId key, Round round);
  void TryOpen(StepContext& step, KeyId key);
  void Open(StepContext& step, KeyId key, Round round, RoundState& state);
  void TakeEarly(StepContext& step, KeyId key);
  PeerNetwork::Verdict KeepEarly(StepContext& step, ChunkMessage message, Payload payload);
  // True if a round of the key for which there was no room has its policy by now.
  bool TakeDenied(KeyId key);
  // Says what is wrong with a chunk of a bound round; empty when nothing is.
  std::string FaultOf(const ChunkMessage& message, const RoundState& state) const;
  static std::string FaultOfShape(const ChunkMessage& message, const ReduceHalf& attempt);
  // False if the chunk is of a start of its source that the round's policy does not know.
  static bool IsOfThisStart(const ChunkMessage& message, const RoundState& state);
  static std::string FaultOfSource(const ChunkMessage& message, const RoundState& state);
  // Says why the message cannot hold as many workers as it claims; empty when it can. A result holds those of all
  // members, and a contribution none of this node.
  std::string FaultOfWeight(const ChunkMessage& message, const RoundState& state) const;
  // False, and the round is broken, when members disagree on the kind of the round.
  bool AgreesOnKind(StepContext& step, KeyId key, Round round, RoundState& state, RoundKind kind, NodeId said_by);
  // Counts a chunk that is refused, and says `why`.
  PeerNetwork::Verdict Refuse(StepContext& step, const ChunkMessage& message, const std::string& why);
  // The same for a chunk of a round that this node waits for. Breaks the round when the same was refused before, or so
  // much that it never ends.
  PeerNetwork::Verdict Refuse(StepContext& step, RoundState& state, const ChunkMessage& message,
                              const std::string& why);
  // Takes up one chunk of the early store. Breaks its round if it is refused: its source believes it to be delivered.
  void TakeEarly(StepContext& step, EarlyStore::Chunk chunk);
  PeerNetwork::Verdict OnContribution(StepContext& step, RoundState& state, ChunkMessage message, Payload payload);
  PeerNetwork::Verdict OnResult(StepContext& step, RoundState& state, ChunkMessage message, Payload payload);
  void TakeResult(StepContext& step, RoundState& state, ChunkIndex chunk, CheckedChunk result);
  // Counts a computation that has finished when its round or attempt, `what`, was gone.
  static void CountLate(StepContext& step, KeyId key, Round round, const std::string& what);
  // Makes the message with which this node sends a chunk of an open round to `destination`, but for its payload.
  ChunkMessage MessageTo(NodeId destination, KeyId key, Round round, ChunkIndex chunk, Half half,
                         const CheckedChunk& encoded) const;

  NodeId self_;
  Incarnation incarnation_;
  JobConfig config_;
  PolicyBook* book_;
  PeerNetwork* network_;
  ComputationTable* computations_;
  Listener* listener_;
  std::map<KeyId, KeyState> keys_;
  int64_t model_bytes_ = 0;  // of their tensors
  EncodingChooser encodings_;
  EarlyStore early_;
  std::set<std::pair<KeyId, Round>> denied_;  // rounds of which chunks found no room in it
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ROUND_ENGINE_H_
