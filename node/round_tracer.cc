#include "node/round_tracer.h"

#include <algorithm>
#include <utility>

#include "tracing/round_recorder.h"

namespace banyan {
namespace {

// So many rounds may go by until the scheduler has heard of all nodes and says which ones it wants.
constexpr uint64_t kSpareRounds = 64;

// The first round of which no key has begun.
Round NextRound(const RoundTracer::Parts& parts) {
  Round next;
  for (const auto& [key, row] : parts.policy_table.keys()) next = std::max(next, parts.engine.FirstNotBegun(key));
  return next;
}

}  // namespace

void RoundTracer::OnOrder(StepContext& step, const Parts& parts, const TraceOrder& order) {
  if (order.step == TraceOrder::Step::kNote) return Begin(step, parts, order);
  if (order.trace != trace_ || phase_ == Phase::kIdle) return;
  switch (order.step) {
    case TraceOrder::Step::kNote:
      return;
    case TraceOrder::Step::kKeep:
      if (phase_ != Phase::kNotes) return;
      phase_ = Phase::kKeeps;
      last_ = order.last;
      waits_for_ = KeyId();
      recorder_.Narrow(order.first, order.last);
      return OnClosed(step, parts);
    case TraceOrder::Step::kSend:
      if (phase_ != Phase::kSends) SendFirst(step, parts);
      return;
    case TraceOrder::Step::kMore:
      if (phase_ == Phase::kSends) SendPiece(step, parts);
      return;
    case TraceOrder::Step::kStop:
      return Stop();
  }
}

void RoundTracer::Begin(StepContext& step, const Parts& parts, const TraceOrder& order) {
  Stop();
  const Round next = NextRound(parts);
  if (recorder_.is_on()) {
    return parts.scheduler.Send(step, TraceReady{order.trace, next, name_ + " notes rounds for its --trace already"});
  }
  trace_ = order.trace;
  phase_ = Phase::kNotes;
  const uint64_t wanted = std::min<uint64_t>(order.last.value(), TraceRounds::kMost);
  recorder_.Begin(next, Round(next.value() + wanted + kSpareRounds),
                  std::min<size_t>(order.most_records, RoundRecorder::kMostRecords));
  parts.network.NoteClocks(step.now);
  parts.scheduler.Send(step, TraceReady{order.trace, next, ""});
}

bool RoundTracer::AreClosed(const Parts& parts) {
  const auto& keys = parts.policy_table.keys();
  auto row = keys.lower_bound(waits_for_);
  while (row != keys.end() && parts.engine.IsClosed(row->first, last_)) ++row;
  // Before the first key there is no round.
  if (row == keys.end()) return !keys.empty();
  waits_for_ = row->first;
  return false;
}

void RoundTracer::SendFirst(StepContext& step, const Parts& parts) {
  parts.network.NoteClocks(step.now);
  unsent_ = recorder_.End();
  phase_ = Phase::kSends;
  SendPiece(step, parts);
}

void RoundTracer::SendPiece(StepContext& step, const Parts& parts) {
  TracePiece piece{trace_, {name_, parts.self, TakePiece(unsent_, TracePiece::kMostRecords)}, false};
  piece.is_last = IsEmpty(unsent_);
  if (piece.is_last) phase_ = Phase::kIdle;
  parts.scheduler.Send(step, std::move(piece));
}

void RoundTracer::Stop() {
  const bool notes = phase_ == Phase::kNotes || phase_ == Phase::kKeeps;
  if (notes) recorder_.End();
  phase_ = Phase::kIdle;
  unsent_ = {};
}

}  // namespace banyan
