// Opens sessions on nodes that may come and go meanwhile. A free function; thread-safe.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_OPENING_H_
#define BANYAN_RUNTIME_SESSION_SESSION_OPENING_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "runtime/session/session_core.h"
#include "runtime/session/session_port.h"

namespace banyan {

// Attaches the worker on one port after the other, which `connect` makes in at most the time it is given, until the
// node has answered or for `timeout`: a node that goes away may be about to join again. Errors are SessionCore::Open's,
// or UNAVAILABLE instead of ABORTED.
absl::StatusOr<std::unique_ptr<SessionCore>> OpenSessionCore(
    absl::FunctionRef<absl::StatusOr<std::shared_ptr<SessionPort>>(absl::Duration timeout)> connect, WorkerId worker,
    absl::Duration timeout, SessionPatience patience = {});

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_OPENING_H_
