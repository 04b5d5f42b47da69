#include "runtime/session/session_opening.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "posix/descriptor_limit.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// Before a node that has gone is tried again: it gives nothing to wait on.
constexpr absl::Duration kPause = absl::Milliseconds(20);

absl::Duration TimeLeft(Timestamp deadline) {
  return deadline == kNever ? absl::InfiniteDuration() : deadline - SteadyNow();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SessionCore>> OpenSessionCore(
    absl::FunctionRef<absl::StatusOr<std::shared_ptr<SessionPort>>(absl::Duration timeout)> connect, WorkerId worker,
    absl::Duration timeout, SessionPatience patience) {
  // Descriptors of tensors pass through this process.
  RaiseDescriptorLimit();
  const Timestamp deadline = SteadyNow() + timeout;
  while (true) {
    absl::StatusOr<std::shared_ptr<SessionPort>> port = connect(TimeLeft(deadline));
    if (!port.ok()) return port.status();
    absl::StatusOr<std::unique_ptr<SessionCore>> core =
        SessionCore::Open(*std::move(port), worker, TimeLeft(deadline), patience);
    if (core.ok() || !absl::IsAborted(core.status())) return core;
    if (TimeLeft(deadline) <= absl::ZeroDuration()) return absl::UnavailableError(core.status().message());
    absl::SleepFor(std::min(kPause, TimeLeft(deadline)));
  }
}

}  // namespace banyan
