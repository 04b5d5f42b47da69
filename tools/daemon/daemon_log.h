// The log of a daemon: structured lines on standard error, as text or as JSON.
#ifndef BANYAN_TOOLS_DAEMON_DAEMON_LOG_H_
#define BANYAN_TOOLS_DAEMON_DAEMON_LOG_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "protocol/action.h"

namespace banyan {

// The names of the levels, for flags: debug, info, warning, error.
const std::vector<std::string>& LogLevelNames();

struct DaemonLogOptions {
  std::string process;         // who logs: "scheduler", "n3"
  std::string level = "info";  // one of LogLevelNames(); lines below it are left out
  bool json = false;
  int fd = 2;  // to which lines go; it outlives the log
  // The value of $JOURNAL_STREAM. Where that is `fd`, each line has its priority in front, as the journal reads it.
  std::string journal = {};
};

using LogFunction = std::function<void(LogLevel level, absl::string_view text)>;

// Writes lines like these, from any thread, and never waits for whoever reads them:
//   2026-11-21T06:12:01.123+00:00 info n3: joined the job as node 3
//   {"time":"2026-11-21T06:12:01.123+00:00","level":"info","process":"n3","text":"joined the job as node 3"}
LogFunction MakeDaemonLog(const DaemonLogOptions& options);

// `text` as a JSON string with its quotes, whatever a peer has put into it: printable characters are kept, and bytes
// that are no UTF-8 are shown as \xNN.
std::string JsonString(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_DAEMON_LOG_H_
