// Opens a session on one connection after the other: a node that goes away may be about to join again. Thread-safe.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_OPENER_H_
#define BANYAN_RUNTIME_SESSION_SESSION_OPENER_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "runtime/session/session_core.h"
#include "runtime/session/session_port.h"

namespace banyan {

// Makes a port in at most the time that it is given.
using MakeSessionPort = absl::FunctionRef<absl::StatusOr<std::shared_ptr<SessionPort>>(absl::Duration timeout)>;

// Attaches the worker on ports that `connect` makes, until the node has answered or for `timeout`. The error of the
// last try, or of `connect`.
absl::StatusOr<std::unique_ptr<SessionCore>> OpenSessionCore(
    MakeSessionPort connect, WorkerId worker, absl::Duration timeout,
    absl::Duration answer_timeout = SessionCore::kAnswerTimeout);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_OPENER_H_
