// The one place where the records of traced rounds become bytes and bytes become records. Pure functions.
#ifndef BANYAN_PROTO_TRACING_ROUND_RECORDS_WIRE_H_
#define BANYAN_PROTO_TRACING_ROUND_RECORDS_WIRE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/tracing/round_records.h"

namespace banyan {

std::string EncodeRecords(const NodeRecords& records);

// INVALID_ARGUMENT names the field, what was expected and what came; records of a newer format name both formats.
absl::StatusOr<NodeRecords> DecodeRecords(absl::string_view bytes);

}  // namespace banyan

#endif  // BANYAN_PROTO_TRACING_ROUND_RECORDS_WIRE_H_
