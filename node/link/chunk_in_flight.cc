#include "node/link/chunk_in_flight.h"

#include "node/trim/chunk_cut.h"

namespace banyan {

int64_t ChunkInFlight::FrameBytes() const {
  int64_t frame_bytes = 0;
  for (size_t frame = 0; frame < frames; ++frame) frame_bytes += message.frames[frame].size_bytes;
  return frame_bytes;
}

Payload ChunkInFlight::CopyTo(ChunkMessage& header) const {
  header = message;
  Payload rest = payload;
  if (frames < message.frames.size()) CutTo(frames, header, rest);
  return rest;
}

}  // namespace banyan
