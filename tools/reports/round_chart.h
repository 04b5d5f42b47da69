// What a page shows of a traced round: a row per link, and the critical path.
#ifndef BANYAN_TOOLS_REPORTS_ROUND_CHART_H_
#define BANYAN_TOOLS_REPORTS_ROUND_CHART_H_

#include <cstddef>
#include <string>
#include <vector>

#include "proto/tracing/trace_messages.h"
#include "tracing/critical_path.h"
#include "tracing/job_trace.h"

namespace banyan {

// Links beyond so many, those that carried least and are not on the path, are left out.
inline constexpr size_t kMostChartLinks = 100;

// Returns the last complete round of the trace as JSON; members are null or empty where there is none:
// - `round`, `sentence`, `seconds`
// - `missing`: [{`node`, `reason`}] whose records are not in it
// - `path`: [{`from`, `to` (the same, where no link is meant), `text`, `begin_s`, `end_s`}], without gaps
// - `links`: [{`from`, `to`, `bytes`, `busy_s`, `on_path`, `carries`, `waits`}], in the order of their first chunk. The
//   last two are times [begin_s, end_s, ...] from the round's beginning; what is less than a pixel apart is one.
// - `links_left_out`
std::string RoundChartJson(const JobTrace& trace, const std::vector<TraceEnd::Missing>& missing);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_ROUND_CHART_H_
