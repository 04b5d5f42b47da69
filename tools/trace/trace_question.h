// Asks a job's scheduler to have the next rounds noted, and gathers what the nodes have.
#ifndef BANYAN_TOOLS_TRACE_TRACE_QUESTION_H_
#define BANYAN_TOOLS_TRACE_TRACE_QUESTION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/tracing/trace_messages.h"
#include "runtime/transport/security_options.h"
#include "tools/trace/record_gatherer.h"

namespace banyan {

// Returns what the scheduler's nodes have noted, of whichever of `schedulers` leads. UNAVAILABLE when no answer comes,
// FAILED_PRECONDITION when the scheduler refuses, RESOURCE_EXHAUSTED when it sends more than was asked for, CANCELLED
// after Ctrl-C.
absl::StatusOr<GatheredRecords> AskForTrace(const std::vector<std::string>& schedulers,
                                            std::optional<SecurityOptions> security, const TraceRounds& question);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TRACE_TRACE_QUESTION_H_
