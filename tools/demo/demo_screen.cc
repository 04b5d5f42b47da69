#include "tools/demo/demo_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/demo/demo_dashboard.h"

namespace banyan {
namespace {

constexpr absl::Duration kDrawInterval = absl::Milliseconds(250);
constexpr absl::Duration kLineInterval = absl::Seconds(5);
constexpr int kLinkRows = 9;
constexpr int kUsualWidth = 80;

}  // namespace

void DemoScreen::Update(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
                        absl::Duration elapsed) {
  if (width_ == 0) WriteNews(progress, network, elapsed);
  if (elapsed < next_update_) return;
  if (width_ > 0) {
    next_update_ = elapsed + kDrawInterval;
    Draw(progress, network, state, elapsed);
  } else {
    WriteLines(progress, network, state, elapsed);
  }
}

void DemoScreen::Finish(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed) {
  if (width_ > 0) {
    Draw(progress, network, "", elapsed);
    drawn_lines_ = 0;
  } else {
    out_ << ProgressLine(progress, network, elapsed) << std::endl;
  }
}

void DemoScreen::WriteNews(const DemoProgress& progress, const DemoNetworkState& network, absl::Duration elapsed) {
  for (const DemoProcess& process : progress.processes()) {
    const bool is_news = std::find(last_processes_.begin(), last_processes_.end(), process) == last_processes_.end();
    if (is_news) out_ << ProcessLine(process, elapsed) << std::endl;
  }
  last_processes_ = progress.processes();
  if (network.rate_changes() > last_rate_changes_) {
    last_rate_changes_ = network.rate_changes();
    out_ << absl::StrFormat("the WAN's rates change, %.0f s", absl::ToDoubleSeconds(elapsed)) << std::endl;
  }
  const StatusView& status = network.status();
  if (status.policy > last_policy_ && !status.planner.empty()) {
    last_policy_ = status.policy;
    out_ << PolicyLine(network) << std::endl;
  }
}

void DemoScreen::WriteLines(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
                            absl::Duration elapsed) {
  if (progress.finished_rounds() > 0) {
    next_update_ = elapsed + kLineInterval;
    out_ << ProgressLine(progress, network, elapsed) << std::endl;
  } else if (state != last_state_) {
    last_state_ = std::string(state);
    out_ << state << std::endl;
  }
}

void DemoScreen::Draw(const DemoProgress& progress, const DemoNetworkState& network, absl::string_view state,
                      absl::Duration elapsed) {
  // To the first line drawn before, then each line is cleared from its end; what is left below goes too.
  std::string text = drawn_lines_ > 0 ? absl::StrCat("\x1b[", drawn_lines_, "A") : "";
  const std::vector<std::string> lines = DrawDashboard(progress, network, state, elapsed, width_, kLinkRows);
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\x1b[K\n");
  absl::StrAppend(&text, "\x1b[J");
  drawn_lines_ = static_cast<int>(lines.size());
  out_ << text << std::flush;
}

int TerminalWidth(int fd) {
  if (isatty(fd) == 0) return 0;
  winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

}  // namespace banyan
