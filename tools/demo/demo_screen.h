// Shows how a demo gets on: on a terminal a table that is drawn anew in place, elsewhere a line now
// and then, and one for each new policy and each process that dies or comes back.
// Thread-compatible.
#ifndef BANYAN_TOOLS_DEMO_DEMO_SCREEN_H_
#define BANYAN_TOOLS_DEMO_DEMO_SCREEN_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/demo/demo_network_state.h"
#include "tools/demo/demo_progress.h"

namespace banyan {

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
  int64_t last_policy_ = 0;
  int last_rate_changes_ = 0;
  std::vector<DemoProcess> last_processes_;
};

// The columns of the terminal that `fd` is; 0 when it is none.
int TerminalWidth(int fd);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_SCREEN_H_
