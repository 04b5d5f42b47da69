// The chart of a traced round as JSON: what the page is told, and what recordings keep. Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_ROUND_CHART_JSON_H_
#define BANYAN_TOOLS_REPORTS_ROUND_CHART_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/reports/round_chart.h"

namespace banyan {

// Encodes the chart, on one line. Without a complete round there are `missing` and `round` alone.
// - `missing`: [{`node`, `reason`}]
// - `round` (null when none was complete), `sentence`, `seconds`
// - `path`: [{`from`, `to`, `text`, `begin_s`, `end_s`}]
// - `links`: [{`from`, `to`, `bytes`, `busy_s`, `on_path`, `carries`, `waits`}]; the last two are times [begin_s,
// end_s,
//   ...] from the round's beginning
// - `links_left_out`
std::string RoundChartJson(const RoundChart& chart);

// Decodes it, and checks all of it. `json` is JSON on one line. INVALID_ARGUMENT says which member was expected to be
// what; members that it does not know are passed over.
absl::StatusOr<RoundChart> ReadRoundChart(absl::string_view json);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_ROUND_CHART_JSON_H_
