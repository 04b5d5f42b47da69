// What a chunk must look like to be a part of a bound round at this node: everything else is refused. And the header
// with which this node sends its own. Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - What passes can be counted and decoded as it claims, but for its payload: CheckChunk looks at that.
#ifndef BANYAN_NODE_ROUNDS_CHUNK_RULES_H_
#define BANYAN_NODE_ROUNDS_CHUNK_RULES_H_

#include <cstdint>
#include <string>

#include "compression/encoded_chunk.h"
#include "core/ids.h"
#include "node/rounds/key_rounds.h"
#include "proto/chunk_message.h"

namespace banyan {

// The header with which a node sends a chunk of one of its rounds. Pure function.

class ChunkRules {
 public:
  // Of node `self` with so many workers. Where workers may be late, a contribution may hold their gradients of several
  // rounds.
  ChunkRules(NodeId self, uint32_t workers, bool may_be_late = false)
      : self_(self), workers_(workers), may_be_late_(may_be_late) {}

  // Says what is wrong with a chunk of a bound round; empty when nothing is. REQUIRES: `state` is bound.
  std::string FaultOf(const ChunkMessage& message, const RoundState& state) const;
  // False if the chunk is of a start of its source that the round's policy does not know. REQUIRES: as FaultOf.
  static bool IsOfThisStart(const ChunkMessage& message, const RoundState& state);
  // Says why a result without other faults cannot be that of its round; empty when it can. REQUIRES: as FaultOf.
  static std::string FaultOfResult(const ChunkMessage& message, const RoundState& state);
  // Says that a round is of one kind `there`, at the culprit, and of another `here`, at the member of this name.
  static std::string DescribeDisagreement(RoundKind there, RoundKind here, const std::string& here_name);

 private:
  std::string FaultOfShape(const ChunkMessage& message, const ReduceHalf& attempt) const;
  static std::string FaultOfSource(const ChunkMessage& message, const RoundState& state);
  // Says why the chunk cannot have been made in the epoch that it names.
  static std::string FaultOfMaking(const ChunkMessage& message, const RoundState& state);
  // Says why the message cannot hold as many workers as it claims; empty when it can. A result holds those of all
  // members, and a contribution none of this node.
  std::string FaultOfWeight(const ChunkMessage& message, const RoundState& state) const;

  NodeId self_;
  uint32_t workers_;
  bool may_be_late_;
};

// Who sends: a node, in this life.
struct ChunkSource {
  NodeId node;
  Incarnation incarnation;
};

// Returns the message, but for its payload, with which `source` sends `encoded` as the chunk of the round of a key to
// `destination`. The round's `state` is bound; `kind` is the round's, or kAbstention for what nobody has spoken in.
ChunkMessage MakeChunkMessage(const ChunkSource& source, NodeId destination, const RoundState& state, RoundKind kind,
                              KeyId key, Round round, ChunkIndex chunk, Half half, const CheckedChunk& encoded);

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_CHUNK_RULES_H_
