#include "proto/tracing/round_records_wire.h"

#include <climits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/field_wire.h"

namespace banyan {

std::string EncodeRecords(const NodeRecords& from) { return EncodeFields(from); }

absl::StatusOr<NodeRecords> DecodeRecords(absl::string_view bytes) {
  const WireLimits limits;
  absl::Status status;
  WireReader reader(bytes.substr(0, INT_MAX), FieldReader(limits, status));
  if (bytes.size() > INT_MAX || !status.ok()) {
    return absl::InvalidArgumentError("expected the records of traced rounds, got other bytes, or not all of them");
  }
  if (const uint64_t format = reader.index().Number(1, WireKind::kVarint); format != kRoundRecordsFormat) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected records of traced rounds in format ", kRoundRecordsFormat, ", got format ", format));
  }
  NodeRecords to;
  Fields(reader, to);
  if (!status.ok()) return status;
  return to;
}

}  // namespace banyan
