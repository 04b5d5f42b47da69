// The rounds of every key at one node: sums contributions on their way up the reduce halves, makes the result where
// this node is the root, and hands results down the broadcast halves (design, section 5).
//
// A round is *open* here once its policy is known, this node's contribution is there, and earlier rounds leave room
// (rounds_in_flight). Children may be ahead: their chunks are summed as soon as the policy is known, and kept within a
// bound before. Thread-compatible; owned by NodeCore, which outlives it as its listener.
#ifndef BANYAN_NODE_ROUND_ENGINE_H_
#define BANYAN_NODE_ROUND_ENGINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/computation.h"
#include "core/ids.h"
#include "node/chunk_computations.h"
#include "node/chunk_state.h"
#include "node/computation_table.h"
#include "node/early_store.h"
#include "node/encoding_chooser.h"
#include "node/optimizer_state.h"
#include "node/peer_network.h"
#include "node/policy_book.h"
#include "node/step_context.h"
#include "proto/job_config.h"

namespace banyan {

// What this node puts into a round: the sum of its workers, or nothing.
struct Contribution {
  RoundKind kind = RoundKind::kAggregate;
  Buffer values;        // the whole tensor; empty when this node has nothing to say
  uint32_t weight = 0;  // workers in it
  int32_t priority = 0;
};

class RoundEngine {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // A part of the round's result, decoded.
    virtual void OnValues(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) = 0;
    // All parts were given; `hash` is over the whole result and the same on every member.
    virtual void OnRoundComplete(StepContext& step, KeyId key, Round round, uint64_t hash) = 0;
    // Which policy governs this round? Asked again freely; AddBinding and TryOpen follow.
    virtual void OnPolicyWanted(StepContext& step, KeyId key, Round round) = 0;
    // Members disagree, or broke a rule, so that the round can never finish.
    virtual void OnRoundBroken(StepContext& step, KeyId key, Round round, const std::string& reason) = 0;
  };

  RoundEngine(NodeId self, Incarnation incarnation, const JobConfig& config, PolicyBook* book, PeerNetwork* network,
              ComputationTable* computations, Listener* listener);

  // REQUIRES: the key is in the book and its round has no contribution yet.
  void Contribute(StepContext& step, KeyId key, Round round, Contribution contribution);
  PeerNetwork::Verdict OnChunk(StepContext& step, ChunkMessage message, Payload payload);
  // New keys or bindings are in the book: opens what waited for them and takes early chunks up.
  void OnBookChanged(StepContext& step);
  void OnClosedEverywhere(StepContext& step, KeyId key, Round round);
  // The key's weights as they are now, for what is pruned by them from here on; forgotten where nothing is, or where
  // the node has them itself. REQUIRES: the key is in the book, with as many elements.
  void RegisterWeights(StepContext& step, KeyId key, Buffer weights);
  // Gives every part of the result that is there to `sink`: all of it from its completion until the next round opens.
  void Replay(KeyId key, Round round,
              const std::function<void(int64_t first_element, const Buffer& values)>& sink) const;
  // A round is over on these links: the ratios of the next follow.
  void ObserveLinks(const std::vector<LinkRatios::Observation>& links) { encodings_.Observe(links); }
  // Forgets every round: the job has failed.
  void Clear();
  // Every round that this node took part in is closed everywhere.
  bool IsIdle() const;

  std::vector<NodeReport::Memory> MemoryReport() const;

 private:
  struct RoundState {
    std::optional<PolicyBook::Binding> binding;
    std::optional<Contribution> contribution;
    std::optional<RoundKind> kind;  // as the first to speak of it had it
    bool open = false;
    bool complete = false;
    bool closed_everywhere = false;
    std::vector<ChunkState> chunks;  // once bound
    uint32_t unread_results = 0;
  };
  struct KeyState {
    std::map<Round, RoundState> rounds;
    Round next_complete;  // the first round whose result is not complete here
    Round next_closed;    // the first round that is not closed everywhere; later ones may be
    Buffer replica;       // with a server-side optimizer: the parameters, the same on every member
    Buffer residual;      // with error feedback: what this node's encodings have dropped and not yet made up for
    Buffer weights;       // as workers registered them, where they are needed
    bool said_without_weights = false;
    OptimizerState optimizer;
    KeyState(AggregationOp op, int64_t elements) : optimizer(op, elements) {}
  };
  struct ChunkRef {
    KeyId key;
    Round round;
    ChunkIndex chunk;
  };

  bool HasOptimizer() const { return IsOptimizer(config_.aggregation.op); }
  // REQUIRES: the key is in the book.
  KeyState& KeyOf(KeyId key);
  RoundState* FindRound(KeyId key, Round round);
  void GrowEarlyStore();
  // Gives closed rounds' memory back. The newest result stays for a Pull that comes late, until the next round opens.
  static void DropOldRounds(KeyState& key);
  // Whether no member that keeps the rules can be in that round yet.
  bool IsTooFar(const KeyState& key, Round round) const;
  // Binds the round when its policy is known; null otherwise.
  RoundState* Bound(StepContext& step, KeyId key, Round round);
  void TryOpen(StepContext& step, KeyId key);
  void Open(StepContext& step, KeyId key, Round round, RoundState& state);
  void TakeEarly(StepContext& step);
  PeerNetwork::Verdict KeepEarly(ChunkMessage message, Payload payload);
  // Whether a round for which there was no room has its policy by now.
  bool TakeDenied();
  // What is wrong with a chunk of a bound round; empty when nothing is.
  std::string FaultOf(const ChunkMessage& message, const RoundState& state) const;
  // False, and the round is broken, when members disagree on the kind of the round.
  bool AgreesOnKind(StepContext& step, const ChunkRef& ref, RoundState& state, RoundKind kind, NodeId said_by);
  PeerNetwork::Verdict Refuse(StepContext& step, const ChunkMessage& message, const std::string& why);

  // round_engine_reduce.cc: the way up.
  PeerNetwork::Verdict OnContribution(StepContext& step, RoundState& state, ChunkMessage message, Payload payload);
  void ContributeChunk(StepContext& step, const ChunkRef& ref, RoundState& state);
  void Count(StepContext& step, const ChunkRef& ref, RoundState& state, CheckedChunk input);
  void Advance(StepContext& step, const ChunkRef& ref, RoundState& state);
  void StartAdding(StepContext& step, const ChunkRef& ref, ChunkState& chunk);
  void OnAdded(StepContext& step, const ChunkRef& ref, AccumulateChunk& done);
  void PassUp(StepContext& step, const ChunkRef& ref, RoundState& state);
  bool Compresses(const ChunkRef& ref, const RoundState& state);
  // Of all the links on which this node and those below it in the reduce half pass the chunk's result on.
  double ResultRatio(const ChunkRef& ref, const RoundState& state);
  void StartCompressing(StepContext& step, const ChunkRef& ref, RoundState& state);
  // Empty for a tensor without error feedback.
  Buffer ResidualSlice(KeyId key, const ElementRange& range);
  void FinishSum(StepContext& step, const ChunkRef& ref, RoundState& state);

  // round_engine_weights.cc: what is pruned by. Empty where no worker has told, which is said once.
  Buffer WeightsSlice(StepContext& step, KeyId key, const ElementRange& range);

  // round_engine_broadcast.cc: the way down.
  PeerNetwork::Verdict OnResult(StepContext& step, RoundState& state, ChunkMessage message, Payload payload);
  void TakeResult(StepContext& step, const ChunkRef& ref, RoundState& state, CheckedChunk result);
  void OnRead(StepContext& step, const ChunkRef& ref, ReadResult& done);
  void CompleteRound(StepContext& step, KeyId key, Round round, RoundState& state);
  Buffer ReplicaSlice(KeyId key, const ElementRange& range);
  // Returns this member's step with a result of that range; nullopt where workers get the result itself.
  std::optional<OptimizerStep> StepOf(KeyId key, const ElementRange& range, RoundKind kind);

  void SendTo(StepContext& step, const ChunkRef& ref, const RoundState& state, Half half, NodeId destination,
              const CheckedChunk& chunk);
  const TreeSlice& TreeOf(const RoundState& state, const ChunkState& chunk) const {
    return state.binding->slice->trees[chunk.tree.value()];
  }

  NodeId self_;
  Incarnation incarnation_;
  JobConfig config_;
  PolicyBook* book_;
  PeerNetwork* network_;
  ComputationTable* computations_;
  Listener* listener_;
  std::map<KeyId, KeyState> keys_;
  EncodingChooser encodings_;
  EarlyStore early_;
  std::set<std::pair<KeyId, Round>> denied_;  // rounds of which chunks found no room in it
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUND_ENGINE_H_
