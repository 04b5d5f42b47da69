// The header with which a node sends a chunk of one of its rounds. Pure function.
#ifndef BANYAN_NODE_ROUNDS_CHUNK_HEADER_H_
#define BANYAN_NODE_ROUNDS_CHUNK_HEADER_H_

#include "compression/encoded_chunk.h"
#include "core/ids.h"
#include "node/rounds/key_rounds.h"
#include "proto/chunk_message.h"

namespace banyan {

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

#endif  // BANYAN_NODE_ROUNDS_CHUNK_HEADER_H_
