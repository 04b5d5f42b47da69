// The results of one round of one key at this node: each chunk's one result is held as it travelled, for whoever still
// needs it, and is read for this node's workers. Thread-compatible; owned by RoundEngine, one for each round.
//
// Invariants:
// - A chunk has one result, in whatever attempt it was made; all of this outlives attempts.
// - Each result is read once, and with a server-side optimizer makes one step. Where the node lacks the replica it is
//   read for nobody, and once more if the replica comes before the round is complete.
#ifndef BANYAN_NODE_ROUNDS_BROADCAST_HALF_H_
#define BANYAN_NODE_ROUNDS_BROADCAST_HALF_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/computation_table.h"
#include "node/policy_table.h"
#include "node/rounds/chunk_computations.h"
#include "node/rounds/tensor_memory.h"
#include "node/step_context.h"
#include "proto/chunk_message.h"

namespace banyan {

class BroadcastHalf {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // Returns the round for a computation that has finished; null, and the computation is counted as late, when the
    // round is gone.
    virtual BroadcastHalf* FindBroadcastHalf(StepContext& step, KeyId key, Round round) = 0;
    // A part of the values that workers get is there.
    virtual void OnRead(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) = 0;
    // All parts were given; `hash` is over all of them and the same on every member. It is 0, and nothing was given,
    // where the node lacks the replica.
    virtual void OnAllRead(StepContext& step, KeyId key, Round round, uint64_t hash) = 0;
  };
  using Sink = std::function<void(int64_t first_element, const Buffer& values)>;

  // `memory` is the tensor's. The pointers outlive this; `binding` governs the round.
  BroadcastHalf(KeyId key, Round round, const PolicyTable::Binding& binding, TensorMemory* memory,
                ComputationTable* computations, Owner* owner);

  // Holds the chunk's one result, which its root made in the epoch `made_in`, and reads it. REQUIRES: `chunk` exists
  // and has had none; `kind` is the round's, or kAbstention where `result` is empty. Such a chunk leaves the parameters
  // of a server-side optimizer as they are.
  void Take(StepContext& step, RoundKind kind, ChunkIndex chunk, Epoch made_in, CheckedChunk result);
  // The node lacked the replica, and has it now: reads what was read for nobody. REQUIRES: the round is not
  // complete.
  void ReadAnew(StepContext& step);
  // Returns whether the chunk has had its result. REQUIRES: `chunk` exists.
  bool Has(ChunkIndex chunk) const { return chunks_[chunk.value()].is_taken; }
  bool HasAny() const;
  // Returns whether a result that came is the one that this node holds. REQUIRES: Has(chunk).
  bool IsSame(ChunkIndex chunk, Epoch made_in, const CheckedChunk& result) const;
  // REQUIRE: Has(chunk), and DropResults was not called.
  const CheckedChunk& ResultOf(ChunkIndex chunk) const { return chunks_[chunk.value()].result; }
  Epoch MadeIn(ChunkIndex chunk) const { return chunks_[chunk.value()].made_in; }
  // Returns whether `chunks` cuts the tensor as it was cut for the results that are here.
  bool Fits(const ChunkAssignment& chunks) const;
  // Gives all parts that have been read to `sink`.
  void Replay(const Sink& sink) const;
  // Forgets the results as they travelled; workers may still ask for what was read.
  void DropResults();

  int64_t size_bytes() const;

 private:
  struct Chunk {
    ElementRange range;
    bool is_taken = false;
    bool is_unseen = false;  // read for nobody
    Epoch made_in;
    RoundKind kind = RoundKind::kAbstention;
    CheckedChunk result;
    Buffer values;  // once read
    uint64_t hash = 0;
  };

  void Read(StepContext& step, ChunkIndex index);
  void OnRead(StepContext& step, ChunkIndex index, const ReadResult& done);
  // The same of a chunk that was read without the replica.
  void OnReadUnseen(StepContext& step, ChunkIndex index);
  // Returns whether the chunk's result makes a step of the optimizer, where there is one.
  static bool IsGradient(const Chunk& chunk);
  uint64_t Hash() const;

  KeyId key_;
  Round round_;
  TensorMemory* memory_;
  ComputationTable* computations_;
  Owner* owner_;
  std::vector<Chunk> chunks_;
  size_t unread_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_BROADCAST_HALF_H_
