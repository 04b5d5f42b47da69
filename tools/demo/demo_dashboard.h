// The demo's words. A terminal gets a table that is drawn again and again. Elsewhere a line is written now and then.
// One line comes at the end. Pure functions, and the screen that shows them.
#ifndef BANYAN_TOOLS_DEMO_DEMO_DASHBOARD_H_
#define BANYAN_TOOLS_DEMO_DEMO_DASHBOARD_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/demo/demo_network_state.h"
#include "tools/demo/demo_progress.h"

namespace banyan {

// Shows how a demo gets on: on a terminal a table that is drawn anew in place, elsewhere a line now and then, and one
// for each new policy and each process that dies or comes back. Thread-compatible.
class DemoScreen {
 public:
  // `width` is that of the terminal; 0 when `out` is none.
  DemoScreen(std::ostream& out, int width) : out_(out), width_(width) {}

  // May be called as often as one likes. `elapsed` is the time since the demo's start; `state` says what it waits for.
  void Update(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
              absl::Duration elapsed);
  // The last state, for good; what is written afterwards comes below.
  void Finish(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed);

 private:
  void WriteLines(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
                  absl::Duration elapsed);
  void WriteNews(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed);
  void Draw(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
            absl::Duration elapsed);

  std::ostream& out_;
  const int width_;
  int drawn_lines_ = 0;
  absl::Duration next_update_ = absl::ZeroDuration();
  // Without a terminal: what has been told already.
  std::string last_state_;
  uint64_t last_policy_ = 0;
  int last_rate_changes_ = 0;
  std::vector<DemoProcess> last_processes_;
};

// The columns of the terminal that `fd` is; 0 when it is none.
int TerminalWidth(int fd);

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
