#include "node/trim/trimmer.h"

#include "node/trim/chunk_cut.h"

namespace banyan {

void Trimmer::OnChunk(const ChunkMessage& message, Timestamp now) {
  if (CanBeCut(message)) pace_.OnChunk(message.id.round, message.place, now);
}

bool Trimmer::Cut(Timestamp now, int64_t waiting_bytes, ChunkMessage& message, Payload& payload) const {
  if (!CanBeCut(message)) return false;
  const size_t kept = policy_->KeptFrames({.message = &message,
                                           .now = now,
                                           .due = pace_.DueOf(message.id.round, message.place),
                                           .waiting_bytes = waiting_bytes});
  if (kept == message.frames.size()) return false;
  CutTo(kept, message, payload);
  return true;
}

bool Trimmer::CutToHeads(ChunkMessage& message, Payload& payload) const {
  if (!is_on_ || !CanBeCut(message)) return false;
  CutTo(HeadFrames(message), message, payload);
  return true;
}

}  // namespace banyan
