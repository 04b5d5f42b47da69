#include "node/trim/trimmer.h"

#include "node/trim/chunk_cut.h"

namespace banyan {

void Trimmer::OnChunk(const ChunkMessage& message, Timestamp now) {
  if (CanBeCut(message) || IsResultInLevels(message)) pace_.OnChunk(message.id.round, message.place, now);
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

int64_t Trimmer::ExcessBytes(Timestamp now, int64_t waiting_bytes, const ChunkMessage& message) const {
  if (!policy_->LooksAtTheLink()) return 0;
  const size_t kept = policy_->KeptFrames(
      {.message = &message, .now = now, .due = pace_.EndOf(message.id.round), .waiting_bytes = waiting_bytes});
  int64_t excess_bytes = 0;
  for (size_t frame = kept; frame < message.frames.size(); ++frame) excess_bytes += message.frames[frame].size_bytes;
  return excess_bytes;
}

bool Trimmer::CutToHeads(ChunkMessage& message, Payload& payload) const {
  if (!is_on_ || !CanBeCut(message)) return false;
  CutTo(HeadFrames(message), message, payload);
  return true;
}

}  // namespace banyan
