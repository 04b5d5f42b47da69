// The wait of a process that stands by until it may lead.
#ifndef BANYAN_TOOLS_DAEMON_STANDBY_H_
#define BANYAN_TOOLS_DAEMON_STANDBY_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/stop_signals.h"
#include "protocol/leadership.h"
#include "tools/daemon/daemon_log.h"

namespace banyan {

// Says whether this process may stand by for the one that leads; false while that cannot be told yet. An error says why
// it may not.
using StandbyCheck = std::function<absl::StatusOr<bool>()>;

// Tries to become the leader, several times a second, and returns OK when this process is. CANCELLED when it was asked
// to end meanwhile; any other error says why it will never lead. Logs who leads, and that nobody can be asked. While
// another one leads, `check` is asked now and then until it can tell.
absl::Status WaitForLeadership(const StopSignals& signals, Leadership& leadership, const LogFunction& log,
                               const StandbyCheck& check = {});

}  // namespace banyan

#endif  // BANYAN_TOOLS_DAEMON_STANDBY_H_
