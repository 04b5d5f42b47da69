// Checks a trace against what Chrome's Trace Event Format asks for and Perfetto imports. Pure function.
#ifndef BANYAN_TRACING_TESTING_TRACE_SCHEMA_H_
#define BANYAN_TRACING_TESTING_TRACE_SCHEMA_H_

#include <string>
#include <vector>

namespace banyan {

// Returns what is wrong with a trace in JSON; nothing when Perfetto takes all of it. Beyond the format it asks that
// each process and track has a name, and that slices of one track do not overlap.
std::vector<std::string> TraceFaults(const std::string& json);

}  // namespace banyan

#endif  // BANYAN_TRACING_TESTING_TRACE_SCHEMA_H_
