// The scheduler's messages to nodes and to `banyan status`, to and from Protobuf. Part of proto/wire.h, which is what
// others use. Pure functions.
#ifndef BANYAN_PROTO_FROM_SCHEDULER_WIRE_H_
#define BANYAN_PROTO_FROM_SCHEDULER_WIRE_H_

#include "proto/access_list.h"
#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/scheduler.pb.h"
#include "proto/scheduler_messages.h"

namespace banyan {

void Write(const JoinAccepted& from, wire::Envelope& to);
void Write(const JoinRefused& from, wire::Envelope& to);
void Write(const MembershipUpdate& from, wire::Envelope& to);
void Write(const AccessList& from, wire::Envelope& to);
void Write(const HeartbeatReply& from, wire::Envelope& to);
void Write(const KeysAssigned& from, wire::Envelope& to);
void Write(const KeyRefused& from, wire::Envelope& to);
void Write(const PolicyAnswer& from, wire::Envelope& to);
void Write(const CutSought& from, wire::Envelope& to);
void Write(const PolicyPublished& from, wire::Envelope& to);
void Write(const ClosedEverywhere& from, wire::Envelope& to);
void Write(const QuorumReached& from, wire::Envelope& to);
void Write(const BarrierReleased& from, wire::Envelope& to);
void Write(const JobFailed& from, wire::Envelope& to);
void Write(const StatusReply& from, wire::Envelope& to);
void Write(const PoliciesRetired& from, wire::Envelope& to);
void Write(const EpochBegin& from, wire::Envelope& to);
void Write(const EpochPlan& from, wire::Envelope& to);
void Write(const OperatorReply& from, wire::Envelope& to);
void Write(const WaitAnswer& from, wire::Envelope& to);

JoinAccepted Read(const wire::JoinAccepted& from, FieldReader fields);
JoinRefused Read(const wire::JoinRefused& from, FieldReader fields);
MembershipUpdate Read(const wire::MembershipUpdate& from, FieldReader fields);
AccessList Read(const wire::AccessList& from, FieldReader fields);
HeartbeatReply Read(const wire::HeartbeatReply& from, FieldReader fields);
KeysAssigned Read(const wire::KeysAssigned& from, FieldReader fields);
KeyRefused Read(const wire::KeyRefused& from, FieldReader fields);
PolicyAnswer Read(const wire::PolicyAnswer& from, FieldReader fields);
CutSought Read(const wire::CutSought& from, FieldReader fields);
PolicyPublished Read(const wire::PolicyPublished& from, FieldReader fields);
ClosedEverywhere Read(const wire::ClosedEverywhere& from, FieldReader fields);
QuorumReached Read(const wire::QuorumReached& from, FieldReader fields);
BarrierReleased Read(const wire::BarrierReleased& from, FieldReader fields);
JobFailed Read(const wire::JobFailed& from, FieldReader fields);
StatusReply Read(const wire::StatusReply& from, FieldReader fields);
PoliciesRetired Read(const wire::PoliciesRetired& from, FieldReader fields);
EpochBegin Read(const wire::EpochBegin& from, FieldReader fields);
EpochPlan Read(const wire::EpochPlan& from, FieldReader fields);
OperatorReply Read(const wire::OperatorReply& from, FieldReader fields);
WaitAnswer Read(const wire::WaitAnswer& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_FROM_SCHEDULER_WIRE_H_
