// The demo's words: the table that is drawn again and again on a terminal, the line that is written now and then
// elsewhere, and the one line of its end. Pure functions.
#ifndef BANYAN_TOOLS_DEMO_DASHBOARD_H_
#define BANYAN_TOOLS_DEMO_DASHBOARD_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/demo_progress.h"

namespace banyan {

// Lines of at most `width` characters: a bar, the last round, and the busiest links, `link_rows` rows at most. `state`
// says what the demo is waiting for before the first round.
std::vector<std::string> DrawDashboard(const DemoProgress& progress, absl::string_view state, absl::Duration elapsed,
                                       int width, int link_rows);

// round 120/400  loss 0.512  sync 21.3 ms (median 20.9)  wire 312.4 MB  18 s
std::string ProgressLine(const DemoProgress& progress, absl::Duration elapsed);

// demo: nodes=9 rounds=400 accuracy=0.8861 replicas=identical sync_ms_p50=20.9 wire_mb=312.4
// REQUIRES: progress.all_finished().
std::string SummaryLine(const DemoProgress& progress);
// The same as a JSON object, with the bytes of every link.
std::string SummaryJson(const DemoProgress& progress);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DASHBOARD_H_
