// Turns what nodes tell of low-bit rounds to and from Protobuf. Part of proto/wire.h, which is what others use. Pure
// functions.
#ifndef BANYAN_PROTO_PRECISION_PRECISION_REPORT_WIRE_H_
#define BANYAN_PROTO_PRECISION_PRECISION_REPORT_WIRE_H_

#include "proto/field_reader.h"
#include "proto/precision/precision_report.h"
#include "proto/scheduler.pb.h"

namespace banyan {

void WritePrecisionReport(const PrecisionReport& from, wire::PrecisionReport& to);
PrecisionReport ReadPrecisionReport(const wire::PrecisionReport& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_PRECISION_REPORT_WIRE_H_
