// A node's part in tracing the rounds that an operator asks for: notes them, and hands them to the scheduler in pieces
// when they are closed everywhere. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - One trace at a time; a new one takes the place of the last.
// - Holds no more records than the scheduler allows, and sends one piece each time that it is asked.
#ifndef BANYAN_NODE_ROUND_TRACER_H_
#define BANYAN_NODE_ROUND_TRACER_H_

#include <string>
#include <utility>

#include "core/ids.h"
#include "node/peers/peer_network.h"
#include "node/policy_table.h"
#include "node/rounds/round_engine.h"
#include "node/scheduler_client.h"
#include "node/step_context.h"
#include "proto/tracing/trace_messages.h"
#include "tracing/round_recorder.h"

namespace banyan {

class RoundTracer {
 public:
  // What is asked of the other parts of the node, which outlive the call.
  struct Parts {
    NodeId self;
    const PolicyTable& policy_table;
    const RoundEngine& engine;
    const PeerNetwork& network;
    SchedulerClient& scheduler;
  };

  // `name` is the node's. Rounds are noted in `recorder`, which outlives this, or with null in a place of its own.
  RoundTracer(std::string name, RoundRecorder* recorder)
      : name_(std::move(name)), recorder_(recorder == nullptr ? own_ : *recorder) {}
  RoundTracer(const RoundTracer&) = delete;
  RoundTracer& operator=(const RoundTracer&) = delete;

  RoundRecorder& recorder() { return recorder_; }

  void OnOrder(StepContext& step, const Parts& parts, const TraceOrder& order);
  // Rounds may have been closed everywhere.
  void OnClosed(StepContext& step, const Parts& parts) {
    if (phase_ == Phase::kKeeps && AreClosed(parts)) SendFirst(step, parts);
  }
  // The node is about to leave the job.
  void OnLeaving(StepContext& step, const Parts& parts) {
    if (phase_ == Phase::kKeeps) SendFirst(step, parts);
  }
  // Forgets the trace: the scheduler has.
  void Stop();

 private:
  enum class Phase : uint8_t { kIdle, kNotes, kKeeps, kSends };

  void Begin(StepContext& step, const Parts& parts, const TraceOrder& order);
  // Looks at no key again that is through: a model may have many.
  bool AreClosed(const Parts& parts);
  void SendFirst(StepContext& step, const Parts& parts);
  void SendPiece(StepContext& step, const Parts& parts);

  const std::string name_;
  RoundRecorder own_;
  RoundRecorder& recorder_;
  Phase phase_ = Phase::kIdle;
  TraceId trace_;
  Round last_;
  KeyId waits_for_;  // the keys before it are through with the last round
  RoundRecords unsent_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUND_TRACER_H_
