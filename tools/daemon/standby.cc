#include "tools/daemon/standby.h"

#include <poll.h>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// A part of the shortest lease, so that the wait for its end counts most.
constexpr int kTryIntervalMs = 250;
// What is stored may be large.
constexpr int kTriesPerCheck = 8;

bool StopsWithin(const StopSignals& signals, int milliseconds) {
  pollfd entry = {.fd = signals.fd(), .events = POLLIN, .revents = 0};
  return poll(&entry, 1, milliseconds) > 0;
}

// Reasons why nobody can be asked differ from try to try, and one of them is enough.
bool IsNews(const absl::Status& status, const absl::Status& told) {
  return status.code() != told.code() || (absl::IsAlreadyExists(status) && status != told);
}

}  // namespace

absl::Status WaitForLeadership(const StopSignals& signals, Leadership& leadership, const LogFunction& log,
                               const StandbyCheck& check) {
  absl::Status told;
  bool is_checked = !check;
  for (int tries = 0; !signals.received(); ++tries) {
    const absl::Status status = leadership.Campaign();
    if (status.ok()) {
      log(LogLevel::kInfo, "this process leads now");
      return status;
    }
    if (!absl::IsAlreadyExists(status) && !absl::IsUnavailable(status)) return status;
    if (IsNews(status, told)) {
      log(absl::IsUnavailable(status) ? LogLevel::kWarning : LogLevel::kInfo,
          absl::StrCat("standing by: ", status.message()));
      told = status;
    }
    if (!is_checked && absl::IsAlreadyExists(status) && tries % kTriesPerCheck == 0) {
      const absl::StatusOr<bool> may = check();
      if (!may.ok()) return may.status();
      is_checked = *may;
    }
    if (StopsWithin(signals, kTryIntervalMs)) break;
  }
  return absl::CancelledError("asked to end while it stood by");
}

}  // namespace banyan
