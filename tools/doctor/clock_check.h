// Looks at the clock of this machine as chrony sees it. Functions; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_CLOCK_CHECK_H_
#define BANYAN_TOOLS_DOCTOR_CLOCK_CHECK_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/doctor/check_result.h"

namespace banyan {

// The state of the clock as `chronyc -c tracking` says it.
struct ClockTracking {
  std::string reference;  // a name or an address; empty for none, or for the machine's own clock
  int stratum = 0;        // 0: not synchronised
  absl::Duration offset;  // of this clock to the reference, to either side
  absl::Duration root_delay;
  absl::Duration root_dispersion;
  std::string leap;  // "Normal", "Not synchronised", ...
};

// INVALID_ARGUMENT for anything but the one line of a chrony from 2.x to 4.x.
absl::StatusOr<ClockTracking> ParseTracking(absl::string_view line);

// Each check that could be made, in order: one that fails may leave no sense in those after it. `chronyc` is the path
// of chrony's client; the clock may be off by `max_offset`.
CheckResults CheckClock(const std::string& chronyc, absl::Duration max_offset);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_CLOCK_CHECK_H_
