// A scheduler's status for people to read, and from the JSON in which recordings and other programs have it. Pure
// functions.
#ifndef BANYAN_TOOLS_REPORTS_STATUS_TEXT_H_
#define BANYAN_TOOLS_REPORTS_STATUS_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/status.h"

namespace banyan {

// Reads what StatusJson writes. INVALID_ARGUMENT says which member was expected to be what. Members that it does not
// know are passed over, and what is missing is as by default: an older or newer scheduler may have written it.
absl::StatusOr<JobStatus> ParseStatus(absl::string_view json);

// The answer as tables to read, several lines. Of many links it shows the slowest, unless all are asked for: those that
// were busy for the longest part of the last round.
std::string FormatStatus(const JobStatus& status, bool shows_all_links = false);

// Returns the newest round of all nodes; 0 before the first.
uint64_t NewestRound(const JobStatus& status);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_STATUS_TEXT_H_
