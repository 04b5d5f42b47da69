// The way down of one round of one key at this node: each chunk's one result goes to this node's children as the same
// bytes, and is read for its workers. Thread-compatible; owned by RoundEngine, one for each round.
//
// Invariants:
// - A chunk has one result, in whatever attempt it was made; all of this outlives attempts.
// - Each result is read once, and with a server-side optimizer makes one step.
#ifndef BANYAN_NODE_ROUNDS_BROADCAST_HALF_H_
#define BANYAN_NODE_ROUNDS_BROADCAST_HALF_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/computation_table.h"
#include "node/policy_book.h"
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
    // The chunk's result is to go to a child in the broadcast half.
    virtual void OnResultFor(StepContext& step, KeyId key, Round round, ChunkIndex chunk, NodeId child,
                             const CheckedChunk& result) = 0;
    // A part of the values that workers get is there.
    virtual void OnRead(StepContext& step, KeyId key, Round round, int64_t first_element, const Buffer& values) = 0;
    // All parts were given; `hash` is over all of them and the same on every member.
    virtual void OnAllRead(StepContext& step, KeyId key, Round round, uint64_t hash) = 0;
  };
  using Sink = std::function<void(int64_t first_element, const Buffer& values)>;

  // `memory` is the tensor's. The pointers outlive this; `binding` governs the round.
  BroadcastHalf(KeyId key, Round round, const PolicyBook::Binding& binding, TensorMemory* memory,
                ComputationTable* computations, Owner* owner);

  // Passes the chunk's one result on and reads it. REQUIRES: `chunk` exists and has had none; all calls of a round have
  // the same `kind`.
  void Take(StepContext& step, RoundKind kind, ChunkIndex chunk, const std::vector<NodeId>& children,
            CheckedChunk result);
  // Gives all parts that have been read to `sink`.
  void Replay(const Sink& sink) const;
  // Forgets the results as they travelled; workers may still ask for what was read.
  void DropResults();

  int64_t size_bytes() const;

 private:
  struct Chunk {
    ElementRange range;
    CheckedChunk result;
    Buffer values;  // once read
    uint64_t hash = 0;
  };

  void OnRead(StepContext& step, ChunkIndex index, RoundKind kind, const ReadResult& done);
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
