// The wait of a process that stands by until it may lead.
#ifndef BANYAN_TOOLS_DAEMON_STANDBY_H_
#define BANYAN_TOOLS_DAEMON_STANDBY_H_

#include "absl/status/status.h"
#include "posix/stop_signals.h"
#include "protocol/leadership.h"
#include "tools/daemon/daemon_log.h"

namespace banyan {

// Tries to become the leader, several times a second, and returns OK when this process is. CANCELLED when it was asked
// to end meanwhile; any other error says why it will never lead. Logs who leads, and that nobody can be asked.
absl::Status WaitForLeadership(const StopSignals& signals, Leadership& leadership, const LogFunction& log);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_STANDBY_H_
