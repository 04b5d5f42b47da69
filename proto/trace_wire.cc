#include <algorithm>
#include <climits>

#include "proto/message_wire.h"
#include "proto/tracing/round_records_wire.h"

namespace banyan {

void Write(const TraceRounds& from, wire::Envelope& to) {
  wire::TraceRounds& order = *to.mutable_trace_rounds();
  order.set_rounds(from.rounds);
  order.set_patience_ns(absl::ToInt64Nanoseconds(from.patience));
}

TraceRounds Read(const wire::TraceRounds& from, FieldReader fields) {
  return {fields.Between<uint32_t>("rounds", from.rounds(), 1, TraceRounds::kMost),
          fields.Duration("patience", from.patience_ns(), absl::ZeroDuration())};
}

void Write(const TraceOrder& from, wire::Envelope& to) {
  wire::TraceOrder& order = *to.mutable_trace_order();
  order.set_term(from.term.value());
  order.set_trace(from.trace.value());
  order.set_step(static_cast<uint32_t>(from.step));
  order.set_first(from.first.value());
  order.set_last(from.last.value());
  order.set_most_records(from.most_records);
}

TraceOrder Read(const wire::TraceOrder& from, FieldReader fields) {
  TraceOrder order;
  order.term = fields.NonZero<Term>("term", from.term());
  order.trace = fields.NonZero<TraceId>("trace", from.trace());
  order.step =
      fields.OneOf("step", static_cast<int>(std::min<uint32_t>(from.step(), INT_MAX)), TraceOrder::Step::kStop);
  order.first = Round(from.first());
  order.last = Round(from.last());
  order.most_records = from.most_records();
  return order;
}

void Write(const TraceReady& from, wire::Envelope& to) {
  wire::TraceReady& ready = *to.mutable_trace_ready();
  ready.set_trace(from.trace.value());
  ready.set_next(from.next.value());
  ready.set_refusal(from.refusal);
}

TraceReady Read(const wire::TraceReady& from, FieldReader fields) {
  // Rounds far from the end can be added to.
  return {fields.NonZero<TraceId>("trace", from.trace()),
          Round(fields.Between<uint64_t>("next", from.next(), 0, UINT64_MAX / 2)),
          fields.Reason("refusal", from.refusal())};
}

void Write(const TracePiece& from, wire::Envelope& to) {
  wire::TracePiece& piece = *to.mutable_trace_piece();
  piece.set_trace(from.trace.value());
  Write(from.of_node, *piece.mutable_records());
  piece.set_is_last(from.is_last);
}

TracePiece Read(const wire::TracePiece& from, FieldReader fields) {
  TracePiece piece;
  piece.trace = fields.NonZero<TraceId>("trace", from.trace());
  const tracing::RoundRecords& records = from.records();
  const int64_t rows =
      int64_t{records.arrivals_size()} + records.departures_size() + records.moments_size() + records.clocks_size();
  fields.Between<int64_t>("records", rows, 0, static_cast<int64_t>(TracePiece::kMostRecords));
  if (rows <= static_cast<int64_t>(TracePiece::kMostRecords))
    piece.of_node = ReadRecords(records, fields.Within("records"));
  piece.is_last = from.is_last();
  return piece;
}

void Write(const TraceEnd& from, wire::Envelope& to) {
  wire::TraceEnd& end = *to.mutable_trace_end();
  end.set_first(from.first.value());
  end.set_last(from.last.value());
  for (const TraceEnd::Missing& missing : from.missing) {
    wire::TraceEnd::Missing& row = *end.add_missing();
    row.set_node(missing.node);
    row.set_reason(missing.reason);
  }
}

TraceEnd Read(const wire::TraceEnd& from, FieldReader fields) {
  TraceEnd end{Round(from.first()), Round(from.last()), {}};
  const int count = fields.Count("missing", from.missing_size());
  for (int i = 0; i < count; ++i) {
    FieldReader row = fields.Within("missing", i);
    end.missing.push_back({row.Name("node", from.missing(i).node()), row.Reason("reason", from.missing(i).reason())});
  }
  return end;
}

}  // namespace banyan
