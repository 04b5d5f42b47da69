// What commands make of traced rounds: a file for Perfetto and Chrome, and a sentence for each round.
#ifndef BANYAN_TOOLS_REPORTS_TRACE_REPORT_H_
#define BANYAN_TOOLS_REPORTS_TRACE_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "topology/network_view.h"
#include "tracing/critical_path.h"
#include "tracing/job_trace.h"
#include "tracing/path_sentence.h"

namespace banyan {

// The rates of all links of `view`.
LinkRates RatesOf(const NetworkView& view);
// Writes what each complete round waited for, a line each, and what the trace lacks.
std::string TraceText(const JobTrace& trace, const std::vector<CriticalPath>& paths, const LinkRates& rates);
// Says at once what will keep a file from being written at the end of a long run: UNAVAILABLE, with the path, where its
// folder is missing or it is a folder itself. An empty path is no file.
absl::Status CheckWritable(const std::string& file);
// Replaces the file by the trace. UNAVAILABLE, with the path, when it cannot be written.
absl::Status WriteTrace(const JobTrace& trace, const std::vector<CriticalPath>& paths, const LinkRates& rates,
                        const std::string& file);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_TRACE_REPORT_H_
