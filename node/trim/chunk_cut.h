// Cutting a chunk: dropping last frames of one whose codec is prefix-decodable (compression/codec.h), where it waits.
// Pure functions.
#ifndef BANYAN_NODE_TRIM_CHUNK_CUT_H_
#define BANYAN_NODE_TRIM_CHUNK_CUT_H_

#include <cstddef>

#include "core/buffer.h"
#include "proto/chunk_message.h"

namespace banyan {

// Returns how many frames have level 0; they lie in front and are never cut.
size_t HeadFrames(const ChunkMessage& message);

// Returns whether the chunk has frames that may be cut. Only contributions to a sum have: a result is the same for
// all, and control and lossless rounds stay whole.
bool CanBeCut(const ChunkMessage& message);

// Returns whether the chunk is a result in levels: it stays as it is, but its root may choose fewer levels for the
// next.
bool IsResultInLevels(const ChunkMessage& message);

// Drops all but the first `frames` frames, and counts the others in the header. REQUIRES: CanBeCut(), and at least
// HeadFrames() stay.
void CutTo(size_t frames, ChunkMessage& message, Payload& payload);

// Drops the last `frames` frames, or as many of them as may be cut, and counts them likewise.
void CutLast(size_t frames, ChunkMessage& message, Payload& payload);

}  // namespace banyan

#endif  // BANYAN_NODE_TRIM_CHUNK_CUT_H_
