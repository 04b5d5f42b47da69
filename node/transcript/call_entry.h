// Which calls of workers a transcript has: those whose order decides what is summed, and who gets what. Pure function.
#ifndef BANYAN_NODE_TRANSCRIPT_CALL_ENTRY_H_
#define BANYAN_NODE_TRANSCRIPT_CALL_ENTRY_H_

#include <optional>
#include <variant>

#include "proto/transcript/transcript_entry.h"
#include "protocol/worker_call.h"

namespace banyan {

// Returns what a transcript says of the call; nothing of one that it passes over.
inline std::optional<TranscriptCall> CallEntryOf(const WorkerCall& call) {
  using Kind = TranscriptCall::Kind;
  if (const auto* push = std::get_if<WorkerPush>(&call)) {
    return TranscriptCall{push->worker, push->flush ? Kind::kFlush : Kind::kPush, push->key};
  }
  if (const auto* pull = std::get_if<WorkerPull>(&call)) return TranscriptCall{pull->worker, Kind::kPull, pull->key};
  if (const auto* values = std::get_if<WorkerBroadcast>(&call)) {
    return TranscriptCall{values->worker, Kind::kBroadcast, values->key};
  }
  if (const auto* weights = std::get_if<WorkerRegisterWeights>(&call)) {
    return TranscriptCall{weights->worker, Kind::kWeights, weights->key};
  }
  if (const auto* end = std::get_if<WorkerDetach>(&call)) {
    return TranscriptCall{end->worker, end->clean ? Kind::kGoodBye : Kind::kDeath, KeyId()};
  }
  return std::nullopt;
}

}  // namespace banyan

#endif  // BANYAN_NODE_TRANSCRIPT_CALL_ENTRY_H_
