// Turns reports on the health of a training to and from Protobuf. Part of proto/wire.h, which is what others use. Pure
// functions.
#ifndef BANYAN_PROTO_PRECISION_TRAINING_HEALTH_WIRE_H_
#define BANYAN_PROTO_PRECISION_TRAINING_HEALTH_WIRE_H_

#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/precision/training_health.h"
#include "proto/scheduler.pb.h"

namespace banyan {

// A training that diverges reports no number at all: it travels as a very large one, for who reads it wants numbers.
double FiniteLoss(double loss);

void Write(const HealthReport& from, wire::Envelope& to);
HealthReport Read(const wire::HealthReport& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_TRAINING_HEALTH_WIRE_H_
