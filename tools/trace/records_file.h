// The file in which a node writes down what it noted of traced rounds.
#ifndef BANYAN_TOOLS_TRACE_RECORDS_FILE_H_
#define BANYAN_TOOLS_TRACE_RECORDS_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/tracing/round_records_wire.h"

namespace banyan {

// Replaces the file by what the node `name` has noted. FAILED_PRECONDITION when it has sent nothing in these rounds,
// UNAVAILABLE when the file cannot be written.
absl::Status WriteRecordsFile(const std::string& path, const std::string& name, RoundRecords records);
// NOT_FOUND, or INVALID_ARGUMENT with the path when it holds something else.
absl::StatusOr<NodeRecords> ReadRecordsFile(const std::string& path);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TRACE_RECORDS_FILE_H_
