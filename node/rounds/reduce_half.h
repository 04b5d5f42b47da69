// The way up of one round of one key at this node: contributions of children and of its own workers become one sum, for
// the parent or, at the root, for the result. Thread-compatible; owned by RoundEngine, one for each attempt.
//
// Invariants:
// - Everything that belongs to one attempt is in here (who was counted, partial sums, what is being encoded) and goes
//   with it. Contributions, results and residuals outlive attempts and are elsewhere.
// - In low-bit chunks of a round sums are counts of votes, and nothing else is ever a part of one.
// - A member that abstains is counted, whatever the others do.
// - Each child, and this node, is in a chunk's sum at most once.
// - With a fixed order no part is added before those of all nodes with lower numbers.
// - At most one computation works on a chunk. It comes back through Owner::FindReduceHalf with the attempt's epoch and
//   number, so that what an attempt that is gone had started changes nothing.
#ifndef BANYAN_NODE_ROUNDS_REDUCE_HALF_H_
#define BANYAN_NODE_ROUNDS_REDUCE_HALF_H_

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/computation_table.h"
#include "node/policy_table.h"
#include "node/rounds/chunk_computations.h"
#include "node/rounds/encoding_chooser.h"
#include "node/rounds/next_residuals.h"
#include "node/rounds/tensor_memory.h"
#include "node/step_context.h"
#include "node/votes/open_votes.h"
#include "node/votes/route_rules.h"
#include "node/votes/vote_computations.h"
#include "proto/chunk_message.h"
#include "proto/policy_slice.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// Names one try to reduce one round of a key.
struct AttemptId {
  KeyId key;
  Round round;
  Epoch epoch;
  Attempt attempt;

  friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
};

class ReduceHalf {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // Returns the attempt for a computation that has finished; null, and the computation is counted as late, when the
    // attempt is gone.
    virtual ReduceHalf* FindReduceHalf(StepContext& step, const AttemptId& id) = 0;
    // The chunk's sum is ready for `parent`. `result_ratio` is the least that links below the parent can carry of the
    // result.
    virtual void OnSum(StepContext& step, const AttemptId& id, ChunkIndex chunk, NodeId parent, const CheckedChunk& sum,
                       double result_ratio) = 0;
    // This node is the chunk's root and has made the round's one result of it.
    virtual void OnResultMade(StepContext& step, const AttemptId& id, ChunkIndex chunk, CheckedChunk result) = 0;
    // This node is the chunk's root, and every member abstains: FinishSilent ends the chunk when it is time.
    virtual void OnNobodySpoke(StepContext& step, const AttemptId& id, ChunkIndex chunk) = 0;
    // The round can never finish, for this `reason`. `culprit` is the child that brought what breaks a rule; 0 when it
    // is no single node's doing.
    virtual void OnSumBroken(StepContext& step, const AttemptId& id, NodeId culprit, const std::string& reason) = 0;
  };
  // Its surroundings; the pointers outlive it.
  struct Tools {
    NodeId self;
    AggregationOp op = AggregationOp::kMean;
    EncodingChooser* encodings = nullptr;
    ComputationTable* computations = nullptr;
    NextResiduals* residuals = nullptr;  // of the round
    int64_t* waiting_bytes = nullptr;    // of all attempts: children's inputs that no computation adds yet
    Owner* owner = nullptr;
    bool fixed_order = false;    // parts are added in that of their nodes
    VoteRules low_bit = {};      // of rounds with that route
    OpenVotes* votes = nullptr;  // of the round; null where votes leave no residuals
  };

  // Where a chunk stands. One that has its result takes part in nothing more, in whatever attempt.
  //
  //             added                   all counted, this node compresses
  //   kAdding ----------> kCollecting ------------------------------------> kEncoding
  //           <----------    |    |                                             | encoded
  //           inputs came    |    |     all counted, goes as it is              v
  //                          |    +-------------------------------------> kPassedUp
  //   all counted, this node |                                                  | result came
  //   is the root            v          result made                             v
  //                      kFinishing ----------------------------------------> kDone
  //
  // A result of an earlier epoch makes it kDone from every state.
  enum class State : uint8_t { kCollecting, kAdding, kEncoding, kFinishing, kPassedUp, kDone };

  // `key` and `memory` are the tensor's and outlive this; `binding` governs the round and has the attempt's number.
  ReduceHalf(const KeySlice* key, Round round, const PolicyTable::Binding& binding, TensorMemory* memory, Tools tools);
  ReduceHalf(const ReduceHalf&) = delete;
  ReduceHalf& operator=(const ReduceHalf&) = delete;
  ~ReduceHalf();

  uint32_t chunks() const { return static_cast<uint32_t>(chunks_.size()); }
  // These REQUIRE that the chunk exists.
  State StateOf(ChunkIndex chunk) const { return chunks_[chunk.value()].state; }
  TreeIndex TreeOf(ChunkIndex chunk) const { return chunks_[chunk.value()].tree; }
  const TreeSlice& PlaceOf(ChunkIndex chunk) const { return slice_->trees[TreeOf(chunk).value()]; }
  const ElementRange& RangeOf(ChunkIndex chunk) const { return chunks_[chunk.value()].range; }
  bool HasCounted(ChunkIndex chunk, NodeId source) const { return chunks_[chunk.value()].counted.contains(source); }
  // Returns what was cut of the contributions that are counted.
  const std::vector<Cut>& CutsOf(ChunkIndex chunk) const { return chunks_[chunk.value()].cuts; }
  // Returns how many workers the contributions that are counted claim to hold.
  uint32_t WeightOf(ChunkIndex chunk) const { return chunks_[chunk.value()].weight; }

  // Returns the kind of the round as those have it that are counted; kAbstention while nobody speaks.
  RoundKind kind() const { return kind_; }
  // Returns the lowest of the children and this node that is not counted; the greatest number when all are.
  NodeId FirstMissing(ChunkIndex chunk) const;
  // Returns whether an input of `child` would wait behind others that wait. In a fixed order they may wait for it.
  bool WouldWait(ChunkIndex chunk, NodeId child) const {
    return chunks_[chunk.value()].waiting_bytes > 0 && !(tools_.fixed_order && child == FirstMissing(chunk));
  }

  // Counts what `child` and those below it contribute to a chunk; an empty `input` says nothing. `result_ratio` is what
  // the child said of the links below it, `cuts` what was cut of it and of those below. REQUIRES: it was not counted;
  // all calls have the same `kind`, but for kAbstention; the weights of all inputs together are a number of workers
  // that the job can have.
  void CountChild(StepContext& step, RoundKind kind, ChunkIndex chunk, NodeId child, double result_ratio,
                  CheckedChunk input, const std::vector<Cut>& cuts = {});
  // Counts this node's own `values`, the whole tensor's, of `weight` workers. Empty values say nothing; their weight is
  // that of workers who are late. REQUIRES: as CountChild.
  void CountOwn(StepContext& step, RoundKind kind, ChunkIndex chunk, const Buffer& values, uint32_t weight);
  // The same, of `parts` that add up to the values, with what votes of earlier rounds have left out; none say nothing.
  void CountOwn(StepContext& step, RoundKind kind, ChunkIndex chunk, const std::vector<Buffer>& parts, uint32_t weight);
  // The same in all chunks, each on its slice's route: in those that are low-bit the parts are gradients of workers,
  // who vote on them together with what their votes have left out.
  void CountOwn(StepContext& step, RoundKind kind, const std::vector<Buffer>& parts, uint32_t weight);
  // Counts a child that has brought the chunk's result. REQUIRES: it was not counted; OnResult was called.
  void CountResult(ChunkIndex chunk, NodeId child) { chunks_[chunk.value()].counted.insert(child); }
  // Ends the chunk's part in the attempt: its result is here. What comes later for the sum is counted and dropped.
  void OnResult(ChunkIndex chunk);
  // Ends a chunk of which OnNobodySpoke has told. Its result is that part of `values`, if this node has got some since,
  // and else one without weight.
  void FinishSilent(StepContext& step, ChunkIndex chunk, const Buffer& values = Buffer());

  // Returns the bytes of sums that no computation holds.
  int64_t sum_bytes() const;

 private:
  struct Chunk {
    TreeIndex tree;
    ElementRange range;
    PrecisionRoute route = PrecisionRoute::kPlain;
    State state = State::kCollecting;
    std::set<NodeId> counted;  // children, and this node
    uint32_t weight = 0;
    std::vector<CheckedChunk> to_add;       // counted, not yet in the sum
    std::map<NodeId, CheckedChunk> behind;  // likewise, but in a fixed order those of lower nodes come first
    int64_t waiting_bytes = 0;              // of children's inputs in both
    Buffer sum;                             // empty before the first input, and while a computation holds it
    CheckedChunk votes;                     // the same of a low-bit round
    CheckedChunk sole;                      // of a kBroadcast round: the one contribution that is not empty
    NodeId sole_source;                     // who brought it: a child, or this node
    double result_ratio = 1;                // the least that a child has said
    std::vector<Cut> cuts;                  // of what is counted
  };

  bool IsOfVotes(const Chunk& chunk) const { return IsLowBit(chunk.route, kind_); }
  // Whether the chunk's sums are rounded to the half type in which the key travels.
  bool Rounds(const Chunk& chunk) const {
    return IsHalf(key_->type) && kind_ == RoundKind::kAggregate && !IsOfVotes(chunk);
  }
  // Casts votes on these chunks.
  void CastVotesOn(StepContext& step, const std::vector<ChunkIndex>& chunks, const std::vector<Buffer>& parts);
  // Adds what votes have left out to the chunk's parts; its result will use it up.
  void AddWhatVotesLeft(ChunkIndex index);
  void OnVotesCast(StepContext& step, ChunkIndex first, CastVotes& done);
  void OnVotesAdded(StepContext& step, ChunkIndex index, AddVotes& done);
  void FinishVotes(StepContext& step, ChunkIndex index);
  void OnVotesDecided(StepContext& step, ChunkIndex index, DecideVotesOfChunk& done);
  Chunk& At(ChunkIndex chunk) { return chunks_[chunk.value()]; }
  // Starts `work` on a chunk; `then` gets it when it has finished, if this attempt still exists.
  template <typename Work>
  void Start(StepContext& step, ChunkIndex chunk, std::unique_ptr<Work> work,
             void (ReduceHalf::*then)(StepContext&, ChunkIndex, Work&));
  void Count(StepContext& step, ChunkIndex index, NodeId source, CheckedChunk input);
  // Lets the parts be added for which none of a lower node is missing any more.
  void Order(ChunkIndex index);
  void Advance(StepContext& step, ChunkIndex index);
  // Tells if nobody below has values for a flush, and this node only what it has kept back.
  bool FlushesResidualAlone(const Chunk& chunk);
  // Tells if this node's own values are all that there is of the sum. They wait where they are for a child's: alone
  // they would only be copied.
  static bool HoldsOwnAlone(const Chunk& chunk);
  // Takes the inputs that wait to be added and may be.
  std::vector<CheckedChunk> TakeInputs(Chunk& chunk);
  void StartAdding(StepContext& step, ChunkIndex index);
  void OnAdded(StepContext& step, ChunkIndex index, AccumulateChunk& done);
  // Takes from the chunk what this node passes up as it is.
  CheckedChunk TakeUnchanged(ChunkIndex index);
  // A contribution of `weight` workers, all late, that says nothing yet.
  CheckedChunk Nothing(ChunkIndex index, uint32_t weight) const;
  void Leave(StepContext& step, ChunkIndex index, const CheckedChunk& sum);
  bool Compresses(const Chunk& chunk) const;
  // Returns the least ratio of all links on which this node and those below it pass the chunk's result on.
  double ResultRatio(ChunkIndex index);
  void StartEncoding(StepContext& step, ChunkIndex index);
  void OnEncoded(StepContext& step, ChunkIndex index, CompressChunk& done);
  // Keeps what an encoding of the chunk leaves, if anything, until its result is held.
  void KeepResidual(ChunkIndex index, const Buffer& left);
  // Returns the chunk's part of the residual; empty for a tensor without error feedback.
  Buffer Residual(const Chunk& chunk);
  // Returns the chunk's part of the weights; empty where nobody has said any, which is logged once.
  Buffer WeightsToPruneBy(StepContext& step, const Chunk& chunk);
  void Finish(StepContext& step, ChunkIndex index);
  // Logs that no member has sent values for a broadcast: its source abstains until the scheduler names another one.
  void NoteMissingValues(StepContext& step, ChunkIndex index) const;
  void OnFinished(StepContext& step, ChunkIndex index, FinishChunk& done);

  AttemptId id_;
  const KeySlice* key_;
  std::shared_ptr<const PolicySlice> slice_;
  TensorMemory* memory_;
  Tools tools_;
  RoundKind kind_ = RoundKind::kAbstention;  // until somebody who does not abstain is counted
  std::vector<Chunk> chunks_;
  std::shared_ptr<const ChunkAssignment> assignment_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_REDUCE_HALF_H_
