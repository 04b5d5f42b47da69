// Turns the messages of traced rounds to and from Protobuf. Part of proto/wire.h, which is what others use. Pure
// functions.
#ifndef BANYAN_PROTO_TRACING_TRACE_MESSAGES_WIRE_H_
#define BANYAN_PROTO_TRACING_TRACE_MESSAGES_WIRE_H_

#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/scheduler.pb.h"
#include "proto/tracing/trace_messages.h"

namespace banyan {

void Write(const TraceRounds& from, wire::Envelope& to);
TraceRounds Read(const wire::TraceRounds& from, FieldReader fields);
void Write(const TraceOrder& from, wire::Envelope& to);
TraceOrder Read(const wire::TraceOrder& from, FieldReader fields);
void Write(const TraceReady& from, wire::Envelope& to);
TraceReady Read(const wire::TraceReady& from, FieldReader fields);
void Write(const TracePiece& from, wire::Envelope& to);
TracePiece Read(const wire::TracePiece& from, FieldReader fields);
void Write(const TraceEnd& from, wire::Envelope& to);
TraceEnd Read(const wire::TraceEnd& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_TRACING_TRACE_MESSAGES_WIRE_H_
