// A trace as Chrome and Perfetto read it: the Trace Event Format, as JSON. Pure function.
//
// The first process holds the rounds with their critical paths. Every node is a process, with a track for what its
// links carry, one for what waits for each link, one for sums, and others for its rounds. Complete events of one track
// never overlap: a link shows each chunk from when the one before it had come.
#ifndef BANYAN_TRACING_CHROME_TRACE_H_
#define BANYAN_TRACING_CHROME_TRACE_H_

#include <string>
#include <vector>

#include "tracing/critical_path.h"
#include "tracing/job_trace.h"
#include "tracing/path_sentence.h"

namespace banyan {

// `paths` are those of the rounds that are shown as a whole.
std::string ChromeTrace(const JobTrace& trace, const std::vector<CriticalPath>& paths, const LinkRates& rates);

}  // namespace banyan

#endif  // BANYAN_TRACING_CHROME_TRACE_H_
