// Control messages between nodes to and from Protobuf. Part of proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_PEER_WIRE_H_
#define BANYAN_PROTO_PEER_WIRE_H_

#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/peer.pb.h"
#include "proto/peer_messages.h"

namespace banyan {

void Write(const PeerHello& from, wire::Envelope& to);
void Write(const GoAway& from, wire::Envelope& to);
void Write(const LinkAck& from, wire::Envelope& to);
void Write(const DeliveryAck& from, wire::Envelope& to);
void Write(const Busy& from, wire::Envelope& to);
void Write(const Grant& from, wire::Envelope& to);
void Write(const PeerHeartbeat& from, wire::Envelope& to);

PeerHello Read(const wire::PeerHello& from, FieldReader fields);
GoAway Read(const wire::GoAway& from, FieldReader fields);
LinkAck Read(const wire::LinkAck& from, FieldReader fields);
DeliveryAck Read(const wire::DeliveryAck& from, FieldReader fields);
Busy Read(const wire::Busy& from, FieldReader fields);
Grant Read(const wire::Grant& from, FieldReader fields);
PeerHeartbeat Read(const wire::PeerHeartbeat& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_PEER_WIRE_H_
