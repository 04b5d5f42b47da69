// Turns an operator's veto to and from Protobuf. Part of proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_PRECISION_VETO_ORDER_WIRE_H_
#define BANYAN_PROTO_PRECISION_VETO_ORDER_WIRE_H_

#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/precision/veto_order.h"
#include "proto/scheduler.pb.h"

namespace banyan {

void Write(const VetoLowBit& from, wire::Envelope& to);
VetoLowBit Read(const wire::VetoLowBit& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_VETO_ORDER_WIRE_H_
