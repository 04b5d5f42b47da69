// Messages of nodes and of `banyan status` to the scheduler, to and from Protobuf. Part of proto/wire.h, which is what
// others use. Pure functions.
#ifndef BANYAN_PROTO_TO_SCHEDULER_WIRE_H_
#define BANYAN_PROTO_TO_SCHEDULER_WIRE_H_

#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/scheduler.pb.h"
#include "proto/scheduler_messages.h"

namespace banyan {

void Write(const Join& from, wire::Envelope& to);
void Write(const Heartbeat& from, wire::Envelope& to);
void Write(const RegisterKeys& from, wire::Envelope& to);
void Write(const PolicyRequest& from, wire::Envelope& to);
void Write(const CutBound& from, wire::Envelope& to);
void Write(const RoundsClosed& from, wire::Envelope& to);
void Write(const RoundsPushed& from, wire::Envelope& to);
void Write(const BarrierEntered& from, wire::Envelope& to);
void Write(const PeerLost& from, wire::Envelope& to);
void Write(const WorkerLost& from, wire::Envelope& to);
void Write(const CannotFollow& from, wire::Envelope& to);
void Write(const RoundBroken& from, wire::Envelope& to);
void Write(const EpochReport& from, wire::Envelope& to);
void Write(const StopJob& from, wire::Envelope& to);
void Write(const RemoveNode& from, wire::Envelope& to);
void Write(const WaitQuestion& from, wire::Envelope& to);
void Write(const Leave& from, wire::Envelope& to);
void Write(const NodeReport& from, wire::Envelope& to);
void Write(const StatusRequest& from, wire::Envelope& to);
void Write(const Reconfigure& from, wire::Envelope& to);

// Its texts are for the scheduler to judge: it answers with a reason.
Join Read(const wire::Join& from, FieldReader fields);
Heartbeat Read(const wire::Heartbeat& from, FieldReader fields);
RegisterKeys Read(const wire::RegisterKeys& from, FieldReader fields);
PolicyRequest Read(const wire::PolicyRequest& from, FieldReader fields);
CutBound Read(const wire::CutBound& from, FieldReader fields);
RoundsClosed Read(const wire::RoundsClosed& from, FieldReader fields);
RoundsPushed Read(const wire::RoundsPushed& from, FieldReader fields);
BarrierEntered Read(const wire::BarrierEntered& from, FieldReader fields);
PeerLost Read(const wire::PeerLost& from, FieldReader fields);
WorkerLost Read(const wire::WorkerLost& from, FieldReader fields);
CannotFollow Read(const wire::CannotFollow& from, FieldReader fields);
RoundBroken Read(const wire::RoundBroken& from, FieldReader fields);
EpochReport Read(const wire::EpochReport& from, FieldReader fields);
StopJob Read(const wire::StopJob& from, FieldReader fields);
RemoveNode Read(const wire::RemoveNode& from, FieldReader fields);
WaitQuestion Read(const wire::WaitQuestion& from, FieldReader fields);
Leave Read(const wire::Leave& from, FieldReader fields);
NodeReport Read(const wire::NodeReport& from, FieldReader fields);
StatusRequest Read(const wire::StatusRequest& from, FieldReader fields);
Reconfigure Read(const wire::Reconfigure& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_TO_SCHEDULER_WIRE_H_
