// What the daemons' mains share: the run of a core on its host until it stops, with SIGTERM and Ctrl-C handed on to it,
// the metrics page, and checks of addresses. Functions; for the main thread.
#ifndef BANYAN_TOOLS_DAEMON_DAEMON_RUN_H_
#define BANYAN_TOOLS_DAEMON_DAEMON_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posix/stop_signals.h"
#include "protocol/protocol.h"
#include "runtime/metrics/metrics_page.h"
#include "runtime/protocol_host.h"
#include "tools/daemon/daemon_log.h"

namespace banyan {

// Serves the metrics page of a daemon at `http`, host:port, and logs where that is; with a warning when other machines
// read it. `more` is what stands beside the metrics. Threads that this starts hold back the signals that their maker
// does.
absl::StatusOr<std::unique_ptr<MetricsPage>> ServeMetrics(const std::string& http, MetricsPage::Collect collect,
                                                          const LogFunction& log, std::vector<HttpRoute> more = {},
                                                          HttpAccess access = {});

// The warning for a daemon that listens on `address`; empty when only this machine reaches it, or only listed keys
// come in.
std::string OpenAddressWarning(absl::string_view address, bool is_secured);

// `address` with `port` in place of its own.
std::string WithPort(absl::string_view address, int port);

// Returns what `run` does. `request_stop` makes it return; called at most once, on another thread. A signal waits for
// the calling thread from then on, so that thread is to ask `signals` for it.
absl::Status RunUntilStopped(const StopSignals& signals, const std::function<absl::Status()>& run,
                             const std::function<void()>& request_stop);
// Returns the core, which tells systemd again and again that it takes its turns, where WATCHDOG_USEC asks for it.
std::unique_ptr<Protocol> WithWatchdog(std::unique_ptr<Protocol> core);
// The same for a process that waits without a core.
void NotifyWatchdog();
// Returns the status of the core's Stop action. `signals` was made before `host`.
absl::Status RunUntilStopped(const StopSignals& signals, ProtocolHost& host, std::unique_ptr<Protocol> core);

// How supervisors tell why a daemon has ended, for its --help.
inline constexpr char kDaemonExitCodes[] =
    "Exit codes: 0 the job is over: done, or ended by `banyan stop`; 1 an error; 2 wrong flags; 3 the scheduler's\n"
    "state is that of a job that is over already, and --another was not given; 5 the job failed;\n"
    "128 and the signal's number when asked to end: 143 SIGTERM, 130 Ctrl-C, 129 the end of the terminal.";
// Returns the exit code of a daemon that has run until `status`.
int DaemonExitCode(const absl::Status& status, const StopSignals& signals);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_DAEMON_RUN_H_
