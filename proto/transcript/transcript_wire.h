// The one place where entries of a transcript become bytes and bytes become entries. Pure functions.
#ifndef BANYAN_PROTO_TRANSCRIPT_TRANSCRIPT_WIRE_H_
#define BANYAN_PROTO_TRANSCRIPT_TRANSCRIPT_WIRE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/transcript/transcript_entry.h"

namespace banyan {

// Returns one record of these entries.
std::string EncodeTranscript(const std::vector<TranscriptEntry>& entries);

// Returns the entries of a record. INVALID_ARGUMENT names the entry and the field, what was expected and what came; a
// transcript of a newer format names both formats.
absl::StatusOr<std::vector<TranscriptEntry>> DecodeTranscript(absl::string_view record);

}  // namespace banyan

#endif  // BANYAN_PROTO_TRANSCRIPT_TRANSCRIPT_WIRE_H_
