// The demo's words. A terminal gets a table that is drawn again and again. Elsewhere a line is written now and then.
// One line comes at the end. Pure functions.
#ifndef BANYAN_TOOLS_DEMO_DEMO_DASHBOARD_H_
#define BANYAN_TOOLS_DEMO_DEMO_DASHBOARD_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/demo/demo_network_state.h"
#include "tools/demo/demo_process.h"
#include "tools/demo/demo_progress.h"

namespace banyan {

// Returns lines of at most `width` characters: a bar, the last round, who has died or is missing, the policy in force
// and why it came, and the links. Links are in the order of the overlay; the busiest ones are shown where `link_rows`
// rows have no room for all. `state` says what the demo is waiting for before the first round.
std::vector<std::string> DrawDashboard(const DemoProgress& progress, const DemoNetworkState& network,
                                       absl::string_view state, absl::Duration elapsed, int width, int link_rows);

// round 120/400  loss 0.512  sync 21.3 ms (median 20.9)  wire 312.4 MB  18 s
// On an emulated WAN also how many rates are known.
std::string ProgressLine(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed);
// policy 3: packed, 14 trees from 5 roots; 96.1 of at most 103.2 Mbit/s (0.93); because of ...
std::string PolicyLine(const DemoNetworkState& network);
// node n3 ended with signal 9 (Killed), 18 s
// node n3 runs again after it has died 2 times, 19 s
std::string ProcessLine(const DemoProcess& process, absl::Duration elapsed);

// demo: nodes=9 rounds=400 accuracy=0.8861 replicas=identical sync_ms_p50=20.9 wire_mb=312.4 network=wan policies=7 ..
// REQUIRES: progress.all_finished().
std::string SummaryLine(const DemoProgress& progress, const DemoNetworkState& network);
// The same as a JSON object, with the bytes and rates of every link.
std::string SummaryJson(const DemoProgress& progress, const DemoNetworkState& network);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_DASHBOARD_H_
