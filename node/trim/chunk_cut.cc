#include "node/trim/chunk_cut.h"

#include <algorithm>
#include <cstdint>

#include "core/check.h"

namespace banyan {

size_t HeadFrames(const ChunkMessage& message) {
  const auto tail = std::find_if(message.frames.begin(), message.frames.end(),
                                 [](const FrameHeader& frame) { return frame.level > 0; });
  return static_cast<size_t>(tail - message.frames.begin());
}

bool CanBeCut(const ChunkMessage& message) {
  const bool is_contribution =
      message.id.half == Half::kReduce && message.kind == RoundKind::kAggregate && message.made_in == Epoch();
  return is_contribution && HeadFrames(message) < message.frames.size();
}

bool IsResultInLevels(const ChunkMessage& message) {
  return message.id.half == Half::kBroadcast && message.kind == RoundKind::kAggregate &&
         HeadFrames(message) < message.frames.size();
}

void CutTo(size_t frames, ChunkMessage& message, Payload& payload) {
  BANYAN_CHECK(frames >= HeadFrames(message) && frames <= message.frames.size());
  message.cut_frames += static_cast<uint32_t>(message.frames.size() - frames);
  message.frames.resize(frames);
  payload.resize(frames);
}

void CutLast(size_t frames, ChunkMessage& message, Payload& payload) {
  if (!CanBeCut(message)) return;
  const size_t all = message.frames.size();
  CutTo(std::max(HeadFrames(message), all - std::min(all, frames)), message, payload);
}

}  // namespace banyan
