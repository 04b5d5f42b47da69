// Runs a core on its host until it stops, handing SIGTERM and Ctrl-C on to it. What the daemons' mains share.
#ifndef BANYAN_TOOLS_DAEMON_DAEMON_RUN_H_
#define BANYAN_TOOLS_DAEMON_DAEMON_RUN_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "posix/stop_signals.h"
#include "protocol/protocol.h"
#include "runtime/protocol_host.h"

namespace banyan {

// Returns what `run` does. `request_stop` makes it return; called at most once, on another thread. A signal waits for
// the calling thread from then on, so that thread is to ask `signals` for it.
absl::Status RunUntilStopped(const StopSignals& signals, const std::function<absl::Status()>& run,
                             const std::function<void()>& request_stop);
// Returns the status of the core's Stop action. `signals` was made before `host`.
absl::Status RunUntilStopped(const StopSignals& signals, ProtocolHost& host, std::unique_ptr<Protocol> core);

// How supervisors tell why a daemon has ended, for its --help.
inline constexpr char kDaemonExitCodes[] =
    "Exit codes: 0 the job is over: done, or ended by `banyan stop`; 1 the job failed, or an error; 2 wrong flags;\n"
    "3 the scheduler's state is that of a job that is over already, and --another was not given;\n"
    "128 and the signal's number when asked to end: 143 SIGTERM, 130 Ctrl-C, 129 the end of the terminal.";
inline constexpr int kExitJobIsOver = 3;
// Returns the exit code of a daemon that has run until `status`.
int DaemonExitCode(const absl::Status& status, const StopSignals& signals);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_DAEMON_RUN_H_
