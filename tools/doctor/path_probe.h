// Finds out about the path to another site, by a conversation with the doctor there. Function; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_PATH_PROBE_H_
#define BANYAN_TOOLS_DOCTOR_PATH_PROBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/doctor/path_checks.h"

namespace banyan {

struct PathProbe {
  std::string own_name;
  std::string own_address;                         // tcp://host:port
  std::string name;                                // of the other site
  std::string address;                             // tcp://host:port
  absl::Duration patience = absl::ZeroDuration();  // how long to wait for a doctor there
  // How long a block of many packets may take.
  absl::Duration large_timeout = absl::Seconds(20);
  // How long each direction is loaded to see its rate, and the most that is sent for it; zero: not at all.
  absl::Duration rate_time = absl::ZeroDuration();
  int64_t rate_bytes = 0;
  // The connection is left alone for this long before it is tried again; zero: it is not.
  absl::Duration idle_time = absl::ZeroDuration();
};

// Takes the probe's patience, its times, and some seconds.
PathFacts ProbePath(const PathProbe& probe);

// Tells the doctor at the probe's address what this site has found, as EncodeReport has it. UNAVAILABLE when none takes
// it within patience and some seconds.
absl::Status SendReport(const PathProbe& probe, const std::string& report);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_PATH_PROBE_H_
