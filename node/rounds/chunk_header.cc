#include "node/rounds/chunk_header.h"

#include "node/policy_book.h"

namespace banyan {

ChunkMessage MakeChunkMessage(const ChunkSource& source, NodeId destination, const RoundState& state, RoundKind kind,
                              KeyId key, Round round, ChunkIndex chunk, Half half, const CheckedChunk& encoded) {
  const PolicySlice& slice = *state.binding->slice;
  ChunkMessage message;
  message.id = {slice.epoch, state.binding->attempt, round, key, chunk, half};
  message.policy = slice.version;
  message.tree = state.attempt->TreeOf(chunk);
  message.kind = kind;
  message.source_incarnation = source.incarnation;
  message.route.path = PolicyBook::PathTo(slice, source.node, destination);
  message.weight = encoded.weight();
  message.priority = state.contribution.has_value() ? state.contribution->priority : 0;
  message.elements = state.attempt->RangeOf(chunk).elements;
  message.place = state.binding->chunks->PlaceOf(key, chunk);
  message.precision = state.binding->RouteOf(key, chunk);
  message.frames = encoded.encoded().frames;
  return message;
}

}  // namespace banyan
