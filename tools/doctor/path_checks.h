// Judges what is known about the path to another site. Pure function; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_PATH_CHECKS_H_
#define BANYAN_TOOLS_DOCTOR_PATH_CHECKS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/doctor/site_report.h"

namespace banyan {

inline constexpr char kCanCall[] = "ok";

// What one site finds out about the path to another one. A value; thread-compatible.
struct PathFacts {
  enum class Answerer { kNobody, kDoctor, kBanyan, kStranger };

  std::string name;     // of the other site, in the overlay
  std::string address;  // tcp://host:port, as the overlay says it
  absl::Status lookup;
  bool is_here_alone = false;  // it was looked up to this machine's loopback, and this site's was not
  absl::Status connect;        // of the last try
  Answerer answerer = Answerer::kNobody;
  // With a doctor there:
  std::string answered_name;
  std::string own_end;  // this end of the connection, host alone
  std::string seen_as;  // the same as the other side sees it
  absl::Status talk;    // small messages
  absl::Duration round_trip;
  absl::Duration clock_ahead;  // the other clock's, to either side; known to half a round trip
  absl::Status large_there;    // a block of many packets
  absl::Status large_back;
  int path_mtu = 0;  // bytes; 0 where the kernel does not say
  std::string congestion_control;
  double resent_fraction = 0;  // of the segments that were sent
  int overtakings = 0;         // as the kernel has seen packets overtake each other on their way there
  std::string call_back;       // kCanCall, or why the other side cannot call this site
  std::optional<double> rate_there_bps;
  std::optional<double> rate_back_bps;
  std::optional<absl::Status> idle;  // after a pause
};

// The value of a check `reach`: a daemon of Banyan where a doctor was wanted.
inline constexpr char kDaemon[] = "a daemon";

// What the overlay says about the path, where it does.
struct PathExpectation {
  std::optional<absl::Duration> round_trip;
  std::optional<double> rate_there_bps;
  std::optional<double> rate_back_bps;
};

// Returns each check that could be made, in order: one that fails may leave no sense in those after it.
CheckResults CheckPath(const PathFacts& facts, const PathExpectation& expected);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_PATH_CHECKS_H_
