// What a node's core tells its transcript, or its replay. Thread-compatible; owned by NodeCore.
#ifndef BANYAN_NODE_TRANSCRIPT_NODE_SCRIPT_H_
#define BANYAN_NODE_TRANSCRIPT_NODE_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "node/rounds/round_engine.h"
#include "node/rounds/round_script.h"
#include "node/step_context.h"
#include "node/workers/local_workers.h"
#include "proto/scheduler_messages.h"
#include "proto/transcript/transcript_entry.h"
#include "protocol/worker_call.h"

namespace banyan {

// Returns what a transcript says of the call; nothing of one that it passes over. It has those whose order decides what
// is summed, and who gets what. Pure function.
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

class NodeScript : public RoundScript {
 public:
  // The scheduler has let the node in; it may say so again. Not OK when the job is none for this script.
  virtual absl::Status OnJoined(const JoinAccepted& accepted) = 0;
  virtual void OnKeys(const KeysAssigned& assigned) = 0;
  // An epoch begins.
  virtual void OnEpoch(Epoch epoch) = 0;
  // A worker calls. True when the script has taken the call, and hands it to the local workers when it is time.
  virtual bool TakeCall(WorkerCall& call) = 0;
  // Returns the calls that it has taken and not handed on: the job has failed.
  virtual std::vector<WorkerCall> ReturnCalls() { return {}; }
  // The node contributes to a round without late workers.
  virtual void OnLeftOut(KeyId key, Round round) = 0;
  // All of the round's result is there.
  virtual void OnComplete(KeyId key, Round round, uint64_t hash) = 0;
  // A step of the core is about to end. Not OK when the script cannot go on. Both are null before the node has joined.
  virtual absl::Status EndStep(StepContext& step, LocalWorkers* local_workers, RoundEngine* engine) = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TRANSCRIPT_NODE_SCRIPT_H_
